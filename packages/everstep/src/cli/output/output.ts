/**
 * Where a command writes. What is written is made of pieces: plain strings, in which nothing can steer the terminal
 * whoever they come from, and painted ones, which only our own code can make.
 */
import { cleaned } from "../../model/clean-text.ts";
import { type Painted, sequenceOf } from "./paint.ts";

export type Piece = string | Painted;

export interface Output {
  readonly isTerminal: boolean;
  /** How wide a line may be; Infinity where nobody looks at it. */
  readonly columns: number;
  /** Whether painted pieces come out in colours. */
  readonly colour: boolean;
  /** One line. Control characters in it are shown, not sent. */
  line(...pieces: readonly Piece[]): void;
  /** Text of our own that may have several lines; ends with a newline if it has none. */
  text(text: string): void;
  /** Exactly this, for output that is read by programs. */
  raw(text: string): void;
}

export interface OutputTarget {
  readonly isTerminal: boolean;
  readonly columns: number;
  readonly colour: boolean;
  write(text: string): void;
}

export function createOutput(target: OutputTarget): Output {
  const rendered = (piece: Piece): string => {
    if (typeof piece === "string") return cleaned(piece);
    const text = piece.pieces.map(rendered).join("");
    if (!target.colour || text === "") return text;
    const { on, off } = sequenceOf(piece.style);
    return `${on}${text}${off}`;
  };
  return {
    isTerminal: target.isTerminal,
    columns: target.columns,
    colour: target.colour,
    line: (...pieces) => target.write(`${pieces.map(rendered).join("").trimEnd()}\n`),
    text: (text) => {
      const lines = text.replace(/\n$/, "").split("\n");
      target.write(`${lines.map(cleaned).join("\n")}\n`);
    },
    raw: (text) => target.write(text),
  };
}
