/** Shows in the terminal what happens to instances: one line each, as it happens. */
import type { Runtime } from "../../../index.ts";
import type { Output, Piece } from "../../output/output.ts";
import { painted, type Style } from "../../output/paint.ts";
import { counted } from "../counted.ts";
import { type Happening, type Mark, ofChange, ofCommit } from "./happenings.ts";
import type { Claim, StoreObserver, StoreOutcome, StoreRequest } from "./observe-store.ts";
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

export class LiveLines implements StoreObserver {
  readonly #out: Output;
  readonly #runtime: Runtime;
  /** Whose runs those are that this process is at; a commit knows only the run. */
  readonly #runs = new Map<number | string, Ref>();
  #second = 0;
  #linesInSecond = 0;
  #leftOut = 0;

  constructor(out: Output, runtime: Runtime) {
    this.#out = out;
    this.#runtime = runtime;
  }

  onClaimed({ lease, workflowName, instanceId }: Claim): void {
    this.#runs.set(lease.runId, { workflowName, instanceId });
  }

  onWritten(request: StoreRequest, outcome: StoreOutcome): void {
    switch (request.kind) {
      case "create":
        return this.#created(request, outcome);
      case "commit":
        return this.#committed(request, outcome);
      case "change":
        return this.#tell(request, ofChange(request.change, outcome));
      case "sendEvent": {
        const isNew = outcome.kind === "accepted" && !outcome.duplicate && !request.system;
        if (isNew) this.#tell(request, [{ mark: "says", text: `event "${request.type}" came` }]);
        return;
      }
      case "publish":
        if (outcome.kind !== "published" || outcome.duplicate) return;
        return this.#line(`topic "${request.topic}"`, {
          mark: "says",
          text: `published to ${counted(outcome.waiters, "instance")}`,
        });
    }
  }

  #created(request: Extract<StoreRequest, { kind: "create" }>, outcome: StoreOutcome): void {
    if (outcome.kind !== "created") return;
    if (outcome.claim) this.onClaimed(outcome.claim);
    this.#tell(request, [{ mark: "begins", text: "created" }]);
  }

  #committed(request: Extract<StoreRequest, { kind: "commit" }>, outcome: StoreOutcome): void {
    const { runId } = request.lease;
    const ref = this.#runs.get(runId);
    if (!ref) return;
    if (request.boundary.next.kind !== "continue") this.#runs.delete(runId);
    this.#tell(ref, ofCommit(request, outcome));
    if (outcome.kind !== "committed") return;
    for (const child of request.alongside) {
      if (child.kind === "create") this.#tell(child, [{ mark: "begins", text: `created by ${nameOf(ref)}` }]);
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
