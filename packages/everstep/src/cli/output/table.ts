/** Rows with aligned columns. Where somebody looks at it, it fits the width of the terminal. */
import { cleaned } from "../../model/clean-text.ts";
import type { Output, Piece } from "./output.ts";
import { painted, type Style } from "./paint.ts";
import { shortened, widthOf } from "./width.ts";

export interface Column {
  readonly title: string;
  readonly align?: "right";
  /** May be cut short when the terminal is too narrow; the widest of these goes first. */
  readonly shrinks?: true;
}

export interface Cell {
  readonly text: string;
  readonly style?: Style;
}

export function writeTable(
  columns: readonly Column[],
  rows: readonly (readonly Cell[])[],
  out: Output,
): void {
  const titles = columns.map(({ title }): Cell => ({ text: title, style: "dim" }));
  const clean = [titles, ...rows].map((row) =>
    row.map(({ text, style }) => ({ text: cleaned(text), style })),
  );
  const widths = fitted(columns, naturalWidths(columns, clean), out.columns);
  for (const row of clean) out.line(...row.flatMap((cell, at) => pieces(cell, columns[at], widths[at] ?? 0)));
}

const gap = "  ";

function pieces(
  cell: { text: string; style: Style | undefined },
  column: Column | undefined,
  width: number,
): Piece[] {
  const text = shortened(cell.text, width);
  const space = " ".repeat(Math.max(0, width - widthOf(text)));
  const shown: Piece = cell.style === undefined ? text : painted(cell.style, text);
  return column?.align === "right" ? [space, shown, gap] : [shown, space, gap];
}

function naturalWidths(columns: readonly Column[], rows: readonly (readonly { text: string }[])[]): number[] {
  return columns.map((_, at) => Math.max(...rows.map((row) => widthOf(row[at]?.text ?? ""))));
}

/** Takes what is too much from the columns that may shrink, always from the widest, down to their titles. */
function fitted(columns: readonly Column[], natural: readonly number[], space: number): readonly number[] {
  const widths = [...natural];
  const total = (): number => widths.reduce((sum, width) => sum + width, gap.length * (widths.length - 1));
  while (total() > space) {
    const candidates = columns
      .map((column, at) => ({ column, at, width: widths[at] ?? 0 }))
      .filter(({ column, width }) => column.shrinks && width > Math.max(4, column.title.length));
    const widest = candidates.sort((a, b) => b.width - a.width)[0];
    if (widest === undefined) break;
    widths[widest.at] = widest.width - 1;
  }
  return widths;
}
