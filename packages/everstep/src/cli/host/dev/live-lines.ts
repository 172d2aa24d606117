/** Shows in the terminal what happens to instances: one line each, as it happens. */
import type { ObservedWrite, Observer, Runtime } from "../../../index.ts";
import type { Output, Piece } from "../../output/output.ts";
import { painted, type Style } from "../../output/paint.ts";
import { counted } from "../counted.ts";
import { type Happening, happeningsOf, type Mark } from "./happenings.ts";
import { timeOfDay } from "./words.ts";

/** Nobody reads more than this, and writing it takes time from what is to be seen. */
const linesPerSecondMax = 200;
/** The engine's own instances, which tell of others. */
const ownWorkflow = "everstep_hooks";

const looks: Readonly<Record<Mark, readonly [string, Style]>> = {
  begins: ["+", "cyan"],
  done: ["✓", "green"],
  waits: ["…", "yellow"],
  again: ["↻", "yellow"],
  fails: ["✗", "red"],
  ends: ["●", "green"],
  says: ["›", "dim"],
};

interface Ref {
  readonly workflowName: string;
  readonly instanceId: string;
}

export class LiveLines implements Observer {
  readonly #out: Output;
  readonly #runtime: Runtime;
  #second = 0;
  #linesInSecond = 0;
  #leftOut = 0;

  constructor(out: Output, runtime: Runtime) {
    this.#out = out;
    this.#runtime = runtime;
  }

  onWrite(write: ObservedWrite): void {
    const { request, outcome, workflowName, instanceId } = write;
    if (outcome === null) return;
    if (request.kind === "publish") {
      if (outcome.kind !== "published" || outcome.duplicate) return;
      const text = `published to ${counted(outcome.waiters, "instance")}`;
      return this.#line(`topic "${request.topic}"`, { mark: "says", text });
    }
    if (workflowName === null || instanceId === null) return;
    this.#tell({ workflowName, instanceId }, happeningsOf(request, outcome));
    if (request.kind !== "commit" || outcome.kind !== "committed") return;
    const text = `created by ${nameOf({ workflowName, instanceId })}`;
    for (const child of request.alongside) {
      if (child.kind === "create") this.#tell(child, [{ mark: "begins", text }]);
    }
  }

  #tell(ref: Ref, happenings: readonly Happening[]): void {
    if (ref.workflowName === ownWorkflow) return;
    for (const happening of happenings) this.#line(nameOf(ref), happening);
  }

  #line(who: string, { mark, text }: Happening): void {
    const now = this.#runtime.now();
    if (!this.#mayShow(now)) return;
    const [sign, style] = looks[mark];
    const said: Piece = mark === "fails" ? painted("red", text) : text;
    this.#out.line(
      painted("dim", timeOfDay(now)),
      "  ",
      painted(style, sign),
      " ",
      painted("bold", who),
      "  ",
      said,
    );
  }

  #mayShow(now: number): boolean {
    const second = Math.floor(now / 1000);
    if (second !== this.#second) {
      this.#second = second;
      this.#linesInSecond = 0;
    }
    this.#linesInSecond += 1;
    if (this.#linesInSecond <= linesPerSecondMax) return true;
    if (this.#leftOut === 0) this.#runtime.timer(() => this.#tellLeftOut(), 1000);
    this.#leftOut += 1;
    return false;
  }

  #tellLeftOut(): void {
    this.#out.line(painted("dim", `… ${counted(this.#leftOut, "line")} left out`));
    this.#leftOut = 0;
  }
}

function nameOf({ workflowName, instanceId }: Ref): string {
  return `${workflowName} ${instanceId}`;
}
