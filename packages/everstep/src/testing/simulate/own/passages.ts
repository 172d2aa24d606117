/**
 * A workflow function that is run from the top again must ask for the same steps. What it asked for is kept by what it had
 * been told until then: two passages that were told the same, in the same order, may differ in nothing (INV-15).
 */
import { encodeValue } from "../../../authoring/codec.ts";
import { Broken } from "../finding.ts";

export const sameStepsAgain = "a workflow function asks for the same steps when it is run again";

/** What was asked for between two answers. */
interface Asked {
  readonly steps: string[];
  /** Some passage went on from here: there is no more to come. */
  isClosed: boolean;
}

export class Passages {
  readonly #runs = new Map<string, Map<string, Asked>>();

  /** `run`: workflow/instance/run; `name`: the instance in words. */
  begin(run: string, name: string): Passage {
    let asked = this.#runs.get(run);
    if (!asked) {
      asked = new Map();
      this.#runs.set(run, asked);
    }
    return new Passage(asked, name);
  }
}

export class Passage {
  readonly #asked: Map<string, Asked>;
  readonly #name: string;
  readonly #told: string[] = [];
  /** Stands for everything it was told. */
  #place = "";
  #count = 0;

  constructor(asked: Map<string, Asked>, name: string) {
    this.#asked = asked;
    this.#name = name;
  }

  asked(step: string): void {
    const { steps, isClosed } = this.#here;
    const before = steps[this.#count];
    this.#count++;
    if (before === step) return;
    if (before !== undefined) throw this.#differs(`asked for ${before}`, `asked for ${step}`);
    if (isClosed) throw this.#differs(`did not ask for ${step}`, "asked for it");
    steps.push(step);
  }

  answered(step: string, how: string): void {
    this.#leave(`went on without it`);
    this.#told.push(step);
    this.#place = digest(`${this.#place}|${step}|${how}`);
    this.#count = 0;
  }

  ended(): void {
    this.#leave("returned");
  }

  get #here(): Asked {
    let here = this.#asked.get(this.#place);
    if (!here) {
      here = { steps: [], isClosed: false };
      this.#asked.set(this.#place, here);
    }
    return here;
  }

  #leave(how: string): void {
    const here = this.#here;
    here.isClosed = true;
    const missing = here.steps[this.#count];
    if (missing !== undefined) throw this.#differs(`asked for ${missing}`, how);
  }

  #differs(before: string, now: string): Broken {
    const told = this.#told.length === 0 ? "nothing yet" : this.#told.slice(-5).join(", ");
    return new Broken({
      invariant: sameStepsAgain,
      message:
        `${this.#name} ${before} in one passage and ${now} in another, having been told the same (${told}). ` +
        "What a workflow function decides may come from its event and its steps only: not from the clock, from chance, " +
        "or from variables that die with the process.",
    });
  }
}

/** What an answer was, so that two can be compared. */
export function answerText(value: unknown): string {
  try {
    const { json, marks } = encodeValue(value, "answer");
    return `${json}${marks ?? ""}`;
  } catch {
    return "something";
  }
}

/** FNV-1a, twice with different beginnings: long answers need not be kept. */
function digest(text: string): string {
  let one = 0x811c9dc5;
  let other = 0x01000193;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    one = Math.imul(one ^ code, 0x01000193);
    other = Math.imul(other ^ code, 0x5bd1e995);
  }
  return `${(one >>> 0).toString(36)}.${(other >>> 0).toString(36)}`;
}
