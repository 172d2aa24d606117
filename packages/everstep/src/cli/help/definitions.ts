/** A list of names and what they mean, as help has it: two columns, the second one wrapped. */
import type { Output } from "../output/output.ts";
import { painted } from "../output/paint.ts";

export interface Definition {
  readonly name: string;
  readonly text: string;
}

/** Help is read as prose: wider lines are harder to follow. */
const columnsMax = 110;

export function writeDefinitions(definitions: readonly Definition[], out: Output): void {
  const width = Math.max(0, ...definitions.map(({ name }) => name.length));
  const textWidth = Math.max(30, widthOf(out) - width - 4);
  for (const { name, text } of definitions) {
    const [first = "", ...rest] = wrapped(text, textWidth);
    out.line("  ", painted("cyan", name.padEnd(width)), `  ${first}`);
    for (const line of rest) out.line(" ".repeat(width + 4), line);
  }
}

export function writeParagraph(text: string, out: Output): void {
  for (const line of wrapped(text, widthOf(out))) out.line(line);
}

export function writeHeading(text: string, out: Output): void {
  out.line();
  out.line(painted("bold", text));
}

/** Text in lines of a width, broken between words. */
function wrapped(text: string, width: number): readonly string[] {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ")) {
    if (line !== "" && line.length + 1 + word.length > width) {
      lines.push(line);
      line = word;
    } else {
      line = line === "" ? word : `${line} ${word}`;
    }
  }
  return [...lines, line];
}

function widthOf(out: Output): number {
  return Math.min(out.columns, columnsMax);
}

export function capitalized(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
}
