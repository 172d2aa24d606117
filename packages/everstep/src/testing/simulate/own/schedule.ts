/** What happened in one world, line by line in plain words; and a hash of it, the same when the same happens again. */

interface Entry {
  readonly at: number;
  readonly words: () => string;
}

export class Schedule {
  readonly #elapsed: () => number;
  readonly #entries: Entry[] = [];
  #faults = 0;
  #hash = 0x811c9dc5;

  constructor(elapsed: () => number) {
    this.#elapsed = elapsed;
  }

  /** How many of the lines are about something that went wrong. */
  get faults(): number {
    return this.#faults;
  }

  get hash(): string {
    return (this.#hash >>> 0).toString(16).padStart(8, "0");
  }

  /** Made when somebody wants to read them: nearly all worlds end well. */
  get lines(): readonly string[] {
    return this.#entries.map(({ at, words }) => `${clockText(at)}  ${words()}`);
  }

  line(kind: string, words: () => string): void {
    const at = this.#elapsed();
    this.#entries.push({ at, words });
    const text = `${kind}@${at}`;
    for (let place = 0; place < text.length; place++)
      this.#hash = Math.imul(this.#hash ^ text.charCodeAt(place), 0x01000193);
  }

  fault(kind: string, words: () => string): void {
    this.#faults++;
    this.line(kind, words);
  }
}

/** 00:00:01.250, or 30d 00:00:01.250. */
export function clockText(ms: number): string {
  const two = (value: number, digits = 2): string => String(Math.floor(value)).padStart(digits, "0");
  const days = Math.floor(ms / 86_400_000);
  const time = `${two((ms / 3_600_000) % 24)}:${two((ms / 60_000) % 60)}:${two((ms / 1000) % 60)}.${two(ms % 1000, 3)}`;
  return days === 0 ? time : `${days}d ${time}`;
}

const units: readonly (readonly [string, number])[] = [
  ["day", 86_400_000],
  ["hour", 3_600_000],
  ["minute", 60_000],
  ["second", 1000],
];

/** About how long: 2.5 minutes. */
export function lengthText(ms: number): string {
  for (const [unit, size] of units) {
    const count = Number((ms / size).toFixed(1));
    if (ms >= size) return `${count} ${unit}${count === 1 ? "" : "s"}`;
  }
  return `${Number(ms.toFixed(ms < 10 ? 1 : 0))} ms`;
}
