/** What there is to see at one moment: made from the store's records and from what the demo did to its workers. */
import type { InstanceView, StepView } from "everstep";

/** One look into the store. */
export interface Look {
  readonly at: number;
  readonly instance: InstanceView & { readonly currentStep?: StepView };
  readonly steps: readonly StepView[];
}

export interface Kill {
  readonly pid: number;
  readonly signal: string;
  readonly at: number;
  readonly step: string;
  /** A body was running and is lost; false when the instance slept or waited. */
  readonly cutOffBody: boolean;
}

/** Everything the demo knows and the store does not. */
export interface Cast {
  readonly workers: readonly {
    readonly pid: number;
    readonly startedAt: number;
    continuedAt: number | null;
  }[];
  readonly kills: readonly Kill[];
  /** How long a dead worker's order stays its own; null where its death is seen at once. */
  readonly leaseSeconds: number | null;
}

export type RowState =
  | "pending"
  | "running"
  | "retrying"
  | "sleeping"
  | "waiting"
  | "cut off"
  | "completed"
  | "errored";

export interface Row {
  readonly name: string;
  readonly state: RowState;
  /** How long it took, or has been taking so far. */
  readonly ms: number | null;
  readonly note: string;
  /** A kill hit this step. */
  readonly isStruck: boolean;
}

/** The planned steps, and whatever else is recorded. What was planned and never came goes when the instance ended. */
export function rowsOf(plan: readonly string[], look: Look, cast: Cast): Row[] {
  const names = new Set([...plan, ...look.steps.map((step) => step.name)]);
  const running = runningStep(plan, look);
  const rows = [...names].map((name) => ({
    ...rowOf(name, running, look, cast),
    isStruck: cast.kills.some((kill) => kill.step === name),
  }));
  return look.instance.completedAt === null ? rows : rows.filter((row) => row.state !== "pending");
}

/** The step whose body runs, as far as the records tell. */
export function runningStep(
  plan: readonly string[],
  { at, instance, steps }: Look,
): { readonly name: string; readonly since: number } | null {
  const { currentStep: current, executing, updatedAt } = instance;
  if (!executing) return null;
  if (current?.status === "running") return { name: current.name, since: current.createdAt.getTime() };
  if (current?.status === "waiting") {
    const isRetry = current.nextRetryAt !== null && current.nextRetryAt.getTime() <= at;
    return isRetry ? { name: current.name, since: current.nextRetryAt.getTime() } : null;
  }
  // The first body of a new instance starts before anything about it is recorded.
  const first = plan.find((name) => !steps.some((step) => step.name === name));
  return first === undefined ? null : { name: first, since: updatedAt.getTime() };
}

type PlainRow = Omit<Row, "isStruck">;

function rowOf(name: string, running: ReturnType<typeof runningStep>, look: Look, cast: Cast): PlainRow {
  const step = look.steps.find((other) => other.name === name);
  if (step?.status === "completed" || step?.status === "errored") return settledRow(step, cast);
  if (running?.name === name) return runningRow(running, step, look, cast);
  if (step) return waitingRow(step, look, cast);
  // Given back by a dead worker, not yet taken by the next.
  const lost = cast.kills.at(-1);
  if (lost?.step === name && lost.cutOffBody)
    return { name, state: "cut off", ms: null, note: cutOffNote(cast) };
  return { name, state: "pending", ms: null, note: "" };
}

function settledRow(step: StepView, cast: Cast): PlainRow {
  const { name, status } = step;
  const settledAt = step.settledAt?.getTime() ?? 0;
  const ms = settledAt - step.createdAt.getTime();
  if (status === "errored") return { name, state: "errored", ms, note: step.error?.message ?? "failed" };
  const notes = [howItWent(step, settledAt, cast), isKept(settledAt, cast) ? "kept" : ""];
  return { name, state: "completed", ms, note: notes.filter(Boolean).join(", ") };
}

function howItWent(step: StepView, settledAt: number, cast: Cast): string {
  if (wasCutOff(step.name, cast)) return "started again";
  if (step.type === "waitForEvent") return `event "${step.waitEventType}" arrived`;
  if (step.type === "do") return step.attempts > 1 ? `attempt ${step.attempts} succeeded` : "";
  if (!cast.kills.some((kill) => kill.step === step.name)) return "";
  const lateMs = settledAt - (step.wakeAt?.getTime() ?? settledAt);
  return lateMs < 250 ? `woke on time (+${lateMs} ms)` : `woke ${inSeconds(lateMs)} late`;
}

function runningRow(
  running: { readonly name: string; readonly since: number },
  step: StepView | undefined,
  { at, instance }: Look,
  cast: Cast,
): PlainRow {
  const { name } = running;
  const kill = cast.kills.findLast((other) => other.step === name && other.cutOffBody);
  if (!kill) {
    const since = step?.createdAt.getTime() ?? running.since;
    return { name, state: "running", ms: at - since, note: step ? `attempt ${step.attempts + 1}` : "" };
  }
  // Until the next worker has taken the instance, its record still shows the body that is gone.
  const continuedAt = instance.updatedAt.getTime();
  return continuedAt <= kill.at
    ? { name, state: "cut off", ms: kill.at - running.since, note: cutOffNote(cast) }
    : { name, state: "running", ms: at - continuedAt, note: "started again" };
}

function cutOffNote({ leaseSeconds }: Cast): string {
  return leaseSeconds === null ? "cut off" : "cut off, until the dead worker's lease ends";
}

function waitingRow(step: StepView, { at }: Look, cast: Cast): PlainRow {
  const { name, type } = step;
  const ms = at - step.createdAt.getTime();
  const until = (step.wakeAt ?? step.nextRetryAt)?.getTime() ?? at;
  const left = inSeconds(Math.max(0, until - at));
  if (type === "sleep") {
    const alone = cast.workers.length === cast.kills.length ? ", no worker needed" : "";
    return { name, state: "sleeping", ms, note: `wakes in ${left}${alone}` };
  }
  if (type === "waitForEvent")
    return { name, state: "waiting", ms, note: `for event "${step.waitEventType}"` };
  return { name, state: "retrying", ms, note: `${step.error?.message ?? "failed"}, again in ${left}` };
}

function wasCutOff(name: string, cast: Cast): boolean {
  return cast.kills.some((kill) => kill.step === name && kill.cutOffBody);
}

/** Recorded before a kill, and the next worker went on without repeating it. */
function isKept(settledAt: number, { kills, workers }: Cast): boolean {
  return kills.some((kill, index) => settledAt <= kill.at && workers[index + 1]?.continuedAt != null);
}

export function inSeconds(ms: number): string {
  return `${(Math.max(0, ms) / 1000).toFixed(1)} s`;
}

export interface WorkerLine {
  readonly kind: "alive" | "past" | "killed";
  readonly text: string;
}

/** The workers' story so far, oldest first. */
export function workerLines(look: Look, cast: Cast): WorkerLine[] {
  return cast.workers.flatMap((worker, index) => {
    const kill = cast.kills[index];
    const kind = kill || look.instance.completedAt !== null ? "past" : "alive";
    const begun: WorkerLine = { kind, text: beginningOf(worker, cast.kills[index - 1], look, cast) };
    return kill ? [begun, { kind: "killed", text: killSentence(kill) }] : [begun];
  });
}

function beginningOf(
  { pid, startedAt, continuedAt }: Cast["workers"][number],
  before: Kill | undefined,
  { steps }: Look,
  { leaseSeconds }: Cast,
): string {
  const waits = before?.cutOffBody && leaseSeconds !== null;
  if (continuedAt === null && waits)
    return `worker ${pid} started, waits until the dead worker's lease of ${leaseSeconds} s ends`;
  if (!before || continuedAt === null) return `worker ${pid} started`;
  const kept = steps.filter((step) => step.settledAt && step.settledAt.getTime() <= before.at).length;
  const keptSteps = `${kept} ${kept === 1 ? "step" : "steps"} kept`;
  if (!before.cutOffBody) return `worker ${pid} took over, ${keptSteps}`;
  const afterStart = `within ${((continuedAt - startedAt) / 1000).toFixed(2)} s`;
  const pause = waits ? ", when the lease had ended" : "";
  return `worker ${pid} continued ${afterStart}${pause}, ${keptSteps}`;
}

function killSentence({ pid, signal, cutOffBody, step }: Kill): string {
  const moment = cutOffBody ? "in the middle of" : "during";
  return `worker ${pid} killed with ${signal} ${moment} "${step}"`;
}
