import { useCallback, useState } from "react";
import type { Row } from "./row.ts";
import { type Chosen, nothingChosen, withAll, withRange, withToggled } from "./selection.ts";

export interface SelectionState {
  readonly chosen: ReadonlyMap<string, Chosen>;
  readonly count: number;
  toggle(row: Row, range?: readonly Row[] | null): void;
  add(rows: readonly Chosen[]): void;
  clear(): void;
}

export function useSelection(): SelectionState {
  const [selection, setSelection] = useState(nothingChosen);
  return {
    chosen: selection.chosen,
    count: selection.chosen.size,
    /** With a list: everything in it from the one before to this. */
    toggle: useCallback(
      (row, range = null) =>
        setSelection((last) => (range ? withRange(last, range, row) : withToggled(last, row))),
      [],
    ),
    add: useCallback((rows) => setSelection((last) => withAll(last, rows)), []),
    clear: useCallback(() => setSelection(nothingChosen), []),
  };
}
