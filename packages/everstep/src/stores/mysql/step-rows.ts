import type { RowsStatement, RowValues } from "../sql/dialect.ts";
import type { TableNames } from "../sql/schema/table.ts";
import type { Statement } from "../sql/session.ts";
import { divisible, quoted, withoutEmpty } from "./rows.ts";

export function putStepRows(names: TableNames, columns: readonly string[]): RowsStatement {
  const put = putFencedStepRows(names, columns);
  return (rows) => put(rows, { fenced: 0, areNew: false });
}

/**
 * `fenced`: fails unless the statement before it has changed so many rows; 0 for any number. `areNew`: none of them should
 * replace a wait; fails when one does.
 */
export interface StepRowsCheck {
  readonly fenced: number;
  readonly areNew: boolean;
}

export function putFencedStepRows(
  names: TableNames,
  columns: readonly string[],
): (rows: readonly RowValues[], check: StepRowsCheck) => Statement {
  // Assignments are made one after the other, so the status that decides all of them is assigned last.
  const replaced = columns.filter((column) => !["run", "step_index", "status"].includes(column));
  const assignments = [...replaced, "status"].map((column) => {
    const name = quoted(column);
    return `${name} = IF(status = 'waiting', VALUES(${name}), ${name})`;
  });
  const replace = ` ON DUPLICATE KEY UPDATE ${assignments.join(", ")}`;

  return (all, { fenced, areNew }) =>
    divisible((given) => {
      const { list, rows } = withoutEmpty(columns, given);
      const into = `INSERT INTO ${names.step} (${list}) VALUES`;
      const behind = areNew ? "" : replace;
      const [first, ...others] = rows;
      if (fenced === 0 || given[0] !== all[0] || first === undefined) {
        return { sql: `${into} ?${behind}`, values: [rows] };
      }
      // The run, which comes first, is never null.
      const checked = `${into} (IF(ROW_COUNT() = ?, ?, NULL), ?)`;
      const values = [fenced, first[0], first.slice(1)];
      return others.length === 0
        ? { sql: `${checked}${behind}`, values }
        : { sql: `${checked}, ?${behind}`, values: [...values, others] };
    })(all);
}
