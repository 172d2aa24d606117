/** Runs statements that are given as data, on one connection; each text is prepared once. */
import { answer, type Changing, isReading, type Query, type Read, type Rows } from "../sql/reads/query.ts";
import type { SqlRow, SqlValue } from "../sql/rows/row.ts";
import type { Statement } from "../sql/session.ts";
import type { Connection } from "./connection.ts";
import { resultCode, rowFailure, storeFailure } from "./failures.ts";

export interface Statements {
  ask<Result>(read: Read<Result>): Result;
  change<Result>(changing: Changing<Result>): Result;
  /** Without waiting for the disk. */
  keepLightly(statements: readonly Statement[]): void;
}

export function statements({ db, settings, snapshot, transact, transactLeases }: Connection): Statements {
  const prepare = keptByText((sql) => db.prepare(sql));
  const prepareTuples = keptByText((sql) => db.prepareTuples(sql));

  const rowsOf = ({ sql, values, columns, isOne }: Statement): Rows => {
    const given = values as readonly SqlValue[];
    if (columns === undefined || columns.length > namedMax) {
      const statement = prepare(sql);
      return isOne ? found(statement.get(...given)) : statement.all(...given);
    }
    const statement = prepareTuples(sql);
    if (!isOne) return statement.all(...given).map((tuple) => named(columns, tuple));
    const only = statement.get(...given);
    return only === undefined ? none : [named(columns, only)];
  };
  /** What the database says is its own failure; anything else may lie in one row. */
  const run = (statement: Statement): Rows => {
    try {
      return rowsOf(statement);
    } catch (error) {
      const isOfRow = resultCode(error, settings) === undefined;
      throw isOfRow ? rowFailure(error) : storeFailure(error, settings, "statement");
    }
  };
  const write = ({ sql, values }: Statement): void => {
    prepare(sql).run(...(values as readonly SqlValue[]));
  };

  return {
    ask(read) {
      const only = isReading(read) || read.statements.length > 1 ? undefined : read.statements[0];
      return only === undefined
        ? snapshot(() => answer(run, read))
        : (read as Query<never>).read([run(only)]);
    },
    change: (changing) =>
      transact(() => {
        const { result, statements } = answer(run, changing);
        for (const statement of statements) write(statement);
        return result;
      }),
    keepLightly: (statements) =>
      transactLeases(() => {
        for (const statement of statements) write(statement);
      }),
  };
}

function keptByText<Prepared>(prepare: (sql: string) => Prepared): (sql: string) => Prepared {
  const kept = new Map<string, Prepared>();
  let lastText: string | undefined;
  let last: Prepared;
  return (sql) => {
    // When many keys are looked up, the same text is asked for again and again.
    if (sql === lastText) return last;
    const known = kept.get(sql);
    last = known ?? prepare(sql);
    lastText = sql;
    if (known === undefined) kept.set(sql, last);
    return last;
  };
}

const none: Rows = [];

function found(row: SqlRow | undefined): Rows {
  return row === undefined ? none : [row];
}

/** Objects with more properties, set one by one, cost more than those that the library makes. */
const namedMax = 12;

/** By name, which the library does too, but for few columns at twice the price. */
function named(columns: readonly string[], tuple: readonly unknown[]): SqlRow {
  const row: Record<string, unknown> = {};
  for (let n = 0; n < columns.length; n += 1) row[columns[n] as string] = tuple[n];
  return row;
}
