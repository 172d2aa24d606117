/** Shows the order on a terminal: one picture that is redrawn in place, in a single write, so that nothing flickers. */
import { styleText } from "node:util";
import { inSeconds, type Row, type RowState, type WorkerLine } from "./progress.ts";

export interface Picture {
  readonly title: string;
  readonly subtitle: string;
  readonly elapsedMs: number;
  readonly rows: readonly Row[];
  readonly workers: readonly WorkerLine[];
}

/** Where the demo is shown: a screen, or plain lines. */
export interface Stage {
  show(picture: Picture): void;
  /** Nothing is redrawn any more. */
  close(): void;
}

type Style = Parameters<typeof styleText>[0];

export const looks: Record<RowState, { readonly icon: string; readonly style: Style }> = {
  pending: { icon: "·", style: "dim" },
  running: { icon: "▸", style: "cyan" },
  retrying: { icon: "↻", style: "yellow" },
  sleeping: { icon: "☾", style: "blueBright" },
  waiting: { icon: "↯", style: "magenta" },
  "cut off": { icon: "✖", style: "red" },
  completed: { icon: "✔", style: "green" },
  errored: { icon: "✖", style: "red" },
};

export const workerLooks: Record<WorkerLine["kind"], { readonly icon: string; readonly style: Style }> = {
  alive: { icon: "●", style: "green" },
  past: { icon: "○", style: "dim" },
  killed: { icon: "✖", style: "red" },
};

const spinner = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏";
const spinnerMs = 80;
const nameColumns = 18;
const timeColumns = 7;
const margin = "  ";

export class Screen implements Stage {
  readonly #out: NodeJS.WriteStream;
  readonly #onResize = (): void => this.#startOver();
  #drawn = 0;
  #last: Picture | null = null;

  constructor(out: NodeJS.WriteStream) {
    this.#out = out;
    out.write(hideCursor);
    out.on("resize", this.#onResize);
  }

  show(picture: Picture): void {
    this.#last = picture;
    const columns = this.#out.columns || 80;
    // A line that has left the screen at the top cannot be redrawn.
    const lines = paint(picture, columns).slice(-Math.max(1, (this.#out.rows || 24) - 1));
    const back = this.#drawn > 0 ? `\x1b[${this.#drawn}A` : "";
    const text = lines.map((line) => `${line}${clearToEndOfLine}\n`).join("");
    this.#out.write(`${beginUpdate}\r${back}${text}${clearBelow}${endUpdate}`);
    this.#drawn = lines.length;
  }

  close(): void {
    this.#out.off("resize", this.#onResize);
    this.#out.write(showCursor);
  }

  /** The terminal has broken the lines anew; only a fresh picture is right again. */
  #startOver(): void {
    this.#out.write(clearAll);
    this.#drawn = 0;
    if (this.#last) this.show(this.#last);
  }
}

const hideCursor = "\x1b[?25l";
const showCursor = "\x1b[?25h";
const clearToEndOfLine = "\x1b[K";
const clearBelow = "\x1b[J";
const clearAll = "\x1b[2J\x1b[H";
/** Terminals that know these show the new picture at once; others ignore them. */
const beginUpdate = "\x1b[?2026h";
const endUpdate = "\x1b[?2026l";

export function paint(picture: Picture, columns: number): string[] {
  const width = Math.min(columns, 100) - margin.length;
  const elapsed = inSeconds(picture.elapsedMs);
  const subtitle = shorten(picture.subtitle, width - elapsed.length - 1).padEnd(
    Math.min(width, 64) - elapsed.length - margin.length,
  );
  return [
    "",
    `${margin}${styleText("bold", shorten(picture.title, width))}`,
    `${margin}${styleText("dim", subtitle)}${elapsed}`,
    "",
    ...picture.rows.map((row) => margin + paintRow(row, width, picture.elapsedMs)),
    "",
    ...picture.workers.flatMap((line) => paintWorker(line, width)),
  ];
}

function paintRow(row: Row, width: number, elapsedMs: number): string {
  const { icon, style } = looks[row.state];
  const frame = spinner.charAt(Math.floor(elapsedMs / spinnerMs) % spinner.length);
  const name = shorten(row.name, nameColumns).padEnd(nameColumns);
  const time = (row.ms === null ? "" : inSeconds(row.ms)).padStart(timeColumns);
  const note = shorten(row.note, width - nameColumns - timeColumns - 4);
  const isPast = row.state === "completed";
  const noteStyle = isPast ? (row.isStruck ? "yellow" : "dim") : style;
  const nameStyle = isPast ? "reset" : row.state === "pending" ? "dim" : "bold";
  return [
    `${styleText(style, row.state === "running" ? frame : icon)} `,
    styleText(nameStyle, name),
    styleText(isPast ? "dim" : style, time),
    `  ${styleText(noteStyle, note)}`,
  ].join("");
}

function paintWorker({ kind, text }: WorkerLine, width: number): string[] {
  const { icon, style } = workerLooks[kind];
  return wrap(text, width - 2).map((line, index) => {
    const lead = index === 0 ? `${styleText(style, icon)} ` : "  ";
    return margin + lead + (kind === "alive" ? line : styleText(style, line));
  });
}

function shorten(text: string, columns: number): string {
  return text.length <= columns ? text : `${text.slice(0, Math.max(0, columns - 1))}…`;
}

/** Breaks at spaces. */
export function wrap(text: string, columns: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(" ")) {
    const line = lines.at(-1);
    const fits = line !== undefined && line.length + 1 + word.length <= columns;
    if (fits) lines[lines.length - 1] = `${line} ${word}`;
    else lines.push(shorten(word, columns));
  }
  return lines;
}
