/** Rows by keyboard: j and k (or the arrows, in the list) move, x or Space selects; Enter is the link's own. */
import { type FocusEvent, type RefObject, useEffect, useRef, useState } from "react";
import type { Row } from "./row.ts";
import type { SelectionState } from "./use-selection.ts";

/** What the bars above and below may cover. */
const margin = { top: 104, bottom: 72 };

export function useRowKeys(terms: {
  readonly rows: readonly Row[];
  readonly rowHeight: number;
  readonly list: RefObject<HTMLElement | null>;
  readonly selection: SelectionState;
}) {
  const [current, setCurrent] = useState<string | null>(null);
  const latest = useRef({ ...terms, current });
  latest.current = { ...terms, current };

  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
      const target = event.target as Element;
      if (target.closest("input:not([type=checkbox]), select, textarea, button, dialog")) return;
      const isInList = latest.current.list.current?.contains(target) ?? false;
      const move = moves[event.key] ?? (isInList ? movesInList[event.key] : undefined);
      if (move !== undefined) step(move, event.shiftKey);
      else if (event.key === "x" || event.key === "X") pick(event.shiftKey);
      else if (event.key === " " && isInList && target.matches("a")) pick(event.shiftKey);
      else return;
      event.preventDefault();
    };
    const placeOf = (): number => latest.current.rows.findIndex(({ key }) => key === latest.current.current);
    const step = (by: number, isRange: boolean): void => {
      const { rows, selection } = latest.current;
      if (rows.length === 0) return;
      const from = placeOf();
      const at = from < 0 ? firstSeen(latest.current) : Math.min(rows.length - 1, Math.max(0, from + by));
      const row = rows[at] as Row;
      const before = rows[from];
      if (isRange && before) {
        if (!selection.chosen.has(before.key)) selection.toggle(before);
        selection.add([row]);
      }
      bringIntoSight(latest.current, at);
      setCurrent(row.key);
    };
    const pick = (isRange: boolean): void => {
      const { rows, selection } = latest.current;
      const row = rows[placeOf()];
      if (row) selection.toggle(row, isRange ? rows : null);
    };
    document.addEventListener("keydown", onKey);
    return () => document.removeEventListener("keydown", onKey);
  }, []);

  // Once it is drawn, which it may not have been before the page scrolled.
  useEffect(() => {
    if (current === null) return;
    const frame = requestAnimationFrame(() =>
      latest.current.list.current
        ?.querySelector<HTMLElement>(`a[data-key="${CSS.escape(current)}"]`)
        ?.focus({ preventScroll: true }),
    );
    return () => cancelAnimationFrame(frame);
  }, [current]);

  const onFocus = (event: FocusEvent): void => {
    const key = (event.target as HTMLElement).dataset.key;
    if (key !== undefined) setCurrent(key);
  };
  return { current, onFocus };
}

const moves: Readonly<Record<string, number>> = { j: 1, k: -1, J: 1, K: -1 };
const movesInList: Readonly<Record<string, number>> = { ArrowDown: 1, ArrowUp: -1 };

type Terms = { readonly rowHeight: number; readonly list: RefObject<HTMLElement | null> };

function firstSeen({ rowHeight, list }: Terms): number {
  const top = list.current?.getBoundingClientRect().top ?? 0;
  return Math.max(0, Math.ceil((margin.top - top) / rowHeight));
}

function bringIntoSight({ rowHeight, list }: Terms, at: number): void {
  const top = (list.current?.getBoundingClientRect().top ?? 0) + at * rowHeight;
  const over = margin.top - top;
  const under = top + rowHeight - (window.innerHeight - margin.bottom);
  if (over > 0) window.scrollBy(0, -over);
  else if (under > 0) window.scrollBy(0, under);
}
