/** Shows the order where there is no terminal: one plain line for each thing that happens. */
import { styleText } from "node:util";
import { inSeconds, type Row, type WorkerLine } from "./progress.ts";
import { looks, type Picture, type Stage, workerLooks } from "./screen.ts";

export class Transcript implements Stage {
  readonly #write: (line: string) => void;
  readonly #told = new Set<string>();
  readonly #states = new Map<string, string>();

  constructor(write: (line: string) => void) {
    this.#write = write;
  }

  show({ title, subtitle, elapsedMs, rows, workers }: Picture): void {
    this.#once(title, title);
    this.#once(subtitle, `${subtitle}\n`);
    const time = inSeconds(elapsedMs).padStart(7);
    for (const line of workers) this.#once(line.text, `${time}  ${workerText(line)}`);
    for (const row of rows) {
      const before = this.#states.get(row.name) ?? "pending";
      this.#states.set(row.name, row.state);
      if (before !== row.state) this.#write(`${time}  ${rowText(row)}`);
    }
  }

  close(): void {}

  #once(key: string, line: string): void {
    if (this.#told.has(key)) return;
    this.#told.add(key);
    this.#write(line);
  }
}

function workerText({ kind, text }: WorkerLine): string {
  const { icon, style } = workerLooks[kind];
  return `${styleText(style, icon)} ${text}`;
}

function rowText({ name, state, ms, note }: Row): string {
  const { icon, style } = looks[state];
  const took = state === "completed" && ms !== null ? `, ${inSeconds(ms)}` : "";
  return `${styleText(style, icon)} ${name}${took}${note ? `: ${note}` : ""}`;
}
