/** Colours as values: a painted piece says how it looks, and only an output that has colours turns it into codes. */
import type { Piece } from "./output.ts";

export type Style = "bold" | "dim" | "red" | "green" | "yellow" | "blue" | "magenta" | "cyan";

export interface Painted {
  readonly style: Style;
  readonly pieces: readonly Piece[];
}

export function painted(style: Style, ...pieces: readonly Piece[]): Painted {
  return { style, pieces };
}

export function sequenceOf(style: Style): { readonly on: string; readonly off: string } {
  const [on, off] = codes[style];
  return { on: `\u001b[${on}m`, off: `\u001b[${off}m` };
}

const codes: Readonly<Record<Style, readonly [number, number]>> = {
  bold: [1, 22],
  dim: [2, 22],
  red: [31, 39],
  green: [32, 39],
  yellow: [33, 39],
  blue: [34, 39],
  magenta: [35, 39],
  cyan: [36, 39],
};
