/** Notes in a file, one line each: they are there before the program goes on, and no kill can take them back. */
import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { type Note, Notebook } from "./harness.ts";

export function openJournal(file: string): Notebook {
  return new Notebook(readNotes(file), (note) => appendFileSync(file, `${JSON.stringify(note)}\n`));
}

function readNotes(file: string): Note[] {
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, "utf8").split("\n");
  // What follows the last line end is empty, or a line that a kill cut short.
  return lines.slice(0, -1).map((line) => JSON.parse(line));
}
