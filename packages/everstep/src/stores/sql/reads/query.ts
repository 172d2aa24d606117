/**
 * Reads as data: statements, and what their rows mean. Whoever has a database runs them, at once where it works in the
 * process (`answer`), later where it is a server (`answerLater`); the reads themselves are the same.
 */
import type { SqlRow } from "../rows/row.ts";
import type { Statement } from "../session.ts";

export type Rows = readonly SqlRow[];

/** One round trip. */
export interface Query<Result> {
  readonly statements: readonly Statement[];
  /** Is given the rows of each statement. */
  readonly read: (results: readonly Rows[]) => Result;
}

/** Several, one after the other: each query that is yielded is answered. */
export type Reading<Result> = Generator<Query<unknown>, Result, unknown>;

export type Read<Result> = Query<Result> | Reading<Result>;

/** What a transaction reads, and then writes as its last. */
export type Changing<Result> = Reading<{
  readonly result: Result;
  readonly statements: readonly Statement[];
}>;

/** `yield* ask(query)` is its answer. */
export function* ask<Result>(query: Query<Result>): Reading<Result> {
  return (yield query) as Result;
}

export function isReading<Result>(read: Read<Result>): read is Reading<Result> {
  return (read as Query<Result>).statements === undefined;
}

export function answer<Result>(run: (statement: Statement) => Rows, read: Read<Result>): Result {
  const answered = <Answer>({ statements, read }: Query<Answer>): Answer => read(statements.map(run));
  if (!isReading(read)) return answered(read);
  let next = read.next();
  while (!next.done) {
    let found: unknown;
    try {
      found = answered(next.value);
    } catch (error) {
      next = read.throw(error);
      continue;
    }
    next = read.next(found);
  }
  return next.value;
}

export async function answerLater<Result>(
  run: (statements: readonly Statement[]) => Promise<readonly { readonly rows: Rows }[]>,
  read: Read<Result>,
): Promise<Result> {
  const answered = async <Answer>({ statements, read }: Query<Answer>): Promise<Answer> => {
    const results = statements.length === 0 ? [] : await run(statements);
    return read(results.map(({ rows }) => rows));
  };
  if (!isReading(read)) return answered(read);
  let next = read.next();
  while (!next.done) {
    let found: unknown;
    try {
      found = await answered(next.value);
    } catch (error) {
      next = read.throw(error);
      continue;
    }
    next = read.next(found);
  }
  return next.value;
}
