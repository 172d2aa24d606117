/** What bodies did, written down outside of any store: every start and end, in which process, with what in view. */
import type { StepContext, WorkflowEvent } from "../../authoring/workflow-step.ts";
import type { Member } from "./fleet.ts";

export interface BodyStart {
  readonly event: WorkflowEvent;
  readonly context: StepContext;
  readonly path: string;
  /** All that its branch saw before. */
  readonly seen: string;
}

export interface BodyWatch {
  end(how: "returned" | "threw"): void;
}

export interface Entry {
  /** Of the step in its run; the same at every start. */
  readonly key: string;
  /** workflow/instance/run */
  readonly run: string;
  readonly stepKey: string;
  readonly member: Member;
  readonly attempt: number;
  readonly seen: string;
  readonly signal: AbortSignal;
  how: "under way" | "returned" | "threw";
  /** The store has lost what was recorded at that time, or its run before: what is there now may come from elsewhere. */
  isLost: boolean;
  /** How many runs of this name the store had lost before this one; null where nobody can tell. */
  lostBefore: number | null;
}

export class Ledger {
  readonly entries: Entry[] = [];
  readonly #onBegin: (entry: Entry) => void;
  readonly #byKey = new Map<string, Entry[]>();

  constructor(onBegin: (entry: Entry) => void) {
    this.#onBegin = onBegin;
  }

  begin(member: Member, { context, event, seen }: BodyStart): BodyWatch {
    const { idempotencyKey: key, attempt, signal } = context;
    const instance = `${event.workflowName}/${event.instanceId}/`;
    const run = `${instance}${Number.parseInt(key.slice(instance.length), 10)}`;
    const stepKey = key.slice(run.length + 1);
    const entry: Entry = {
      key,
      run,
      stepKey,
      member,
      attempt,
      seen,
      signal,
      how: "under way",
      isLost: false,
      lostBefore: 0,
    };
    // What a dead process would still do, nobody sees.
    if (member.process.state === "dead") return { end: () => {} };
    this.#onBegin(entry);
    this.entries.push(entry);
    const known = this.#byKey.get(key);
    if (known) known.push(entry);
    else this.#byKey.set(key, [entry]);
    return {
      end: (how) => {
        entry.how = how;
      },
    };
  }

  mark(): () => void {
    const count = this.entries.length;
    return () => {
      for (const entry of this.entries.slice(count)) entry.isLost = true;
    };
  }

  /** It began in this very run, and not in one of the same name that is lost. */
  ran(key: string): boolean {
    return this.of(key).some(({ isLost }) => !isLost);
  }

  of(key: string): readonly Entry[] {
    return this.#byKey.get(key) ?? [];
  }
}
