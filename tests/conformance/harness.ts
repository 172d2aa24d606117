/**
 * The engine-neutral part of the suite: the `api` object that programs are given, the interpreter of their drive lists,
 * and the rules by which an outcome is compared with the recorded one. Knows nothing of everstep.
 */

export interface Program {
  readonly name: string;
  readonly settings?: { readonly stepLimit?: number };
  // biome-ignore lint/suspicious/noExplicitAny: programs are plain JavaScript
  readonly run: (event: any, step: any, api: ProgramApi) => unknown;
  readonly drive: readonly Operation[];
}

export interface Operation {
  readonly op: string;
  readonly id?: string;
  readonly as?: string;
  readonly label?: string;
  readonly times?: number;
  readonly ms?: number;
  readonly down?: number;
  readonly timeout?: number;
  readonly status?: string | readonly string[];
  readonly items?: readonly { readonly id?: string }[];
  readonly [field: string]: unknown;
}

// ---------------------------------------------------------------- notes

/** What programs write down outside the engine. */
export interface Notes {
  readonly trace: Record<string, string[]>;
  readonly outer: Record<string, string[]>;
  readonly stamps: Record<string, number[]>;
  readonly counts: Record<string, number>;
}

export type Note =
  | { readonly on: "trace" | "outer"; readonly key: string; readonly text: string }
  | { readonly on: "stamps"; readonly key: string; readonly at: number }
  | { readonly on: "counts"; readonly key: string };

/** Notes that outlive replays, and with `keep` also the process. */
export class Notebook {
  readonly notes: Notes = { trace: {}, outer: {}, stamps: {}, counts: {} };
  readonly #keep: (note: Note) => void;

  constructor(earlier: readonly Note[] = [], keep: (note: Note) => void = () => {}) {
    this.#keep = keep;
    for (const note of earlier) this.#apply(note);
  }

  add(note: Note): void {
    this.#keep(note);
    this.#apply(note);
  }

  #apply(note: Note): void {
    const { notes } = this;
    if (note.on === "counts") notes.counts[note.key] = (notes.counts[note.key] ?? 0) + 1;
    else if (note.on === "stamps") push(notes.stamps, note.key, note.at);
    else push(notes[note.on], note.key, note.text);
  }
}

function push<Value>(table: Record<string, Value[]>, key: string, value: Value): void {
  const list = table[key] ?? [];
  table[key] = list;
  list.push(value);
}

// ---------------------------------------------------------------- the programs' api

export interface ProgramApi {
  readonly NonRetryableError: unknown;
  readonly self: unknown;
  readonly instanceId: string;
  trace(label: unknown): void;
  outer(label: unknown): void;
  count(key: string): number;
  stamp(key: string): void;
  stamps(key: string): number[];
  wait(ms: number): Promise<void>;
}

/** The third argument of a program's run function. */
export function makeApi(
  notebook: Notebook,
  instanceId: string,
  engine: { readonly NonRetryableError: unknown; readonly self: unknown },
): ProgramApi {
  const own = (key: string): string => `${instanceId}/${key}`;
  return {
    ...engine,
    instanceId,
    trace: (label) => notebook.add({ on: "trace", key: instanceId, text: String(label) }),
    outer: (label) => notebook.add({ on: "outer", key: instanceId, text: String(label) }),
    count(key) {
      notebook.add({ on: "counts", key: own(key) });
      return notebook.notes.counts[own(key)]!;
    },
    stamp: (key) => notebook.add({ on: "stamps", key: own(key), at: Date.now() }),
    stamps: (key) => [...(notebook.notes.stamps[own(key)] ?? [])],
    wait: pauseFor,
  };
}

// ---------------------------------------------------------------- one operation

/** Turns the tagged JSON of drive lists into real values. */
export function revive(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(revive);
  if (value === null || typeof value !== "object") return value;
  const tagged = value as Record<string, never>;
  if ("$date" in tagged) return new Date(tagged.$date);
  if ("$bigint" in tagged) return BigInt(tagged.$bigint);
  if ("$map" in tagged) return new Map((tagged.$map as unknown[]).map(revive) as [unknown, unknown][]);
  if ("$set" in tagged) return new Set((tagged.$set as unknown[]).map(revive));
  if ("$undefined" in tagged) return undefined;
  if ("$function" in tagged) return () => 1;
  if ("$chars" in tagged) return "x".repeat(tagged.$chars);
  return Object.fromEntries(Object.entries(tagged).map(([key, part]) => [key, revive(part)]));
}

export interface ErrorText {
  readonly name?: string;
  readonly message?: string;
  readonly thrown?: string;
  readonly value?: string;
}

export function describeError(error: unknown): ErrorText {
  return error instanceof Error
    ? { name: error.name, message: error.message }
    : { thrown: typeof error, value: String(error) };
}

/** An error that was thrown in another process. */
export class RemoteError extends Error {
  readonly description: ErrorText;

  constructor(description: ErrorText) {
    super(description.message ?? description.value);
    this.description = description;
  }
}

type Method = (...given: unknown[]) => Promise<Record<string, unknown>>;

/** Performs one operation against anything that has create, createBatch and get. */
export async function performWithBinding(
  binding: object,
  operation: Operation,
): Promise<Record<string, unknown>> {
  const target = binding as { create: Method; createBatch: Method; get: Method };
  const given = revive(operation) as Record<string, unknown>;
  const instance = async () => (await target.get(given.id)) as Record<string, unknown> & { status: Method };
  switch (operation.op) {
    case "create": {
      if (given.bare === true) return { id: (await target.create()).id };
      return { id: (await target.create(pick(given, "id", "params"))).id };
    }
    case "batch": {
      const created = (await target.createBatch(given.items)) as unknown as { readonly id: string }[];
      return { ids: created.map(({ id }) => id) };
    }
    case "get":
      return { id: (await instance()).id };
    case "status": {
      const { status, output, error } = await (await instance()).status();
      return { status, output: output ?? null, error: error ?? null };
    }
    case "event": {
      const found = await instance();
      await (found.sendEvent as Method).call(found, pick(given, "type", "payload"));
      return {};
    }
    case "pause":
    case "resume":
    case "terminate":
    case "restart":
    case "delete": {
      const found = await instance();
      const method = found[operation.op] as Method | undefined;
      if (!method) throw new Error(`instances have no ${operation.op}`);
      await method.call(found, ...(given.options === undefined ? [] : [given.options]));
      return {};
    }
    default:
      throw new Error(`unknown operation ${operation.op}`);
  }
}

function pick(from: Record<string, unknown>, ...keys: string[]): Record<string, unknown> {
  return Object.fromEntries(keys.filter((key) => key in from).map((key) => [key, from[key]]));
}

// ---------------------------------------------------------------- a whole drive list

export interface ProgramHost {
  /** Answers or throws; see `performWithBinding`. */
  perform(operation: Operation): Promise<Record<string, unknown>>;
  observe(): Promise<Notes>;
  /** Ends the engine's process, waits, and starts it again on the same storage. */
  reload(downMs: number): Promise<void>;
}

export interface FinalState {
  readonly status?: string;
  readonly output?: unknown;
  readonly error?: ErrorText | null;
  readonly unavailable?: unknown;
}

export interface DriveEntry {
  readonly op: string;
  readonly id?: string;
  readonly ok?: Record<string, unknown>;
  readonly error?: unknown;
  readonly reached?: string;
  readonly gaveUp?: string;
}

/** What became of a program: of its operations, and of each instance. */
export interface ProgramRecord {
  readonly drive: readonly DriveEntry[];
  readonly final: Record<string, FinalState>;
  readonly trace: Record<string, readonly string[]>;
  readonly outer: Record<string, readonly string[]>;
  readonly counts: Record<string, Record<string, number>>;
}

type Outcome = Omit<DriveEntry, "op" | "id">;

const terminal = ["complete", "errored", "terminated"];
const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const untilMs = 8000;

function pauseFor(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

export async function driveProgram(program: Program, host: ProgramHost): Promise<ProgramRecord> {
  const drive: DriveEntry[] = [];
  /** Names that the drive list uses for ids it cannot know. */
  const realIds = new Map<string, string>();
  const known = new Set<string>();
  const real = (id: string): string => realIds.get(id) ?? id;

  for (const operation of program.drive) {
    if (operation.op === "wait") {
      await pauseFor(operation.ms ?? 0);
      continue;
    }
    const { id } = operation;
    const sent = id === undefined || operation.op === "create" ? operation : { ...operation, id: real(id) };
    const outcome = remember(operation, await carryOut(sent, host), realIds, known);
    drive.push({ op: operation.op, ...(id === undefined ? {} : { id }), ...outcome });
  }

  const record: ProgramRecord = { drive, final: {}, trace: {}, outer: {}, counts: {} };
  const notes = await host.observe();
  for (const name of known) {
    const id = real(name);
    const { ok, error } = await attempt({ op: "status", id }, host);
    record.final[name] = ok ?? { unavailable: error };
    record.trace[name] = notes.trace[id] ?? [];
    record.outer[name] = notes.outer[id] ?? [];
    record.counts[name] = countsOf(notes, id);
  }
  return record;
}

async function attempt(operation: Operation, host: ProgramHost): Promise<Outcome> {
  try {
    return { ok: await host.perform(operation) };
  } catch (error) {
    return { error: error instanceof RemoteError ? error.description : describeError(error) };
  }
}

async function carryOut(operation: Operation, host: ProgramHost): Promise<Outcome> {
  switch (operation.op) {
    case "until":
      return untilStatus(operation, host);
    case "untilTrace":
      return untilTrace(operation, host);
    case "reload":
      await host.reload(operation.down ?? 0);
      return { ok: {} };
    default:
      return attempt(operation, host);
  }
}

async function untilStatus(operation: Operation, host: ProgramHost): Promise<Outcome> {
  const goals = operation.status === undefined ? terminal : [operation.status].flat();
  const limit = Date.now() + (operation.timeout ?? untilMs);
  for (;;) {
    const { ok } = await attempt({ op: "status", id: operation.id! }, host);
    const status = ok ? String(ok.status) : "unavailable";
    if (goals.includes(status)) return { reached: status };
    if (Date.now() > limit) return { gaveUp: status };
    await pauseFor(20);
  }
}

async function untilTrace(operation: Operation, host: ProgramHost): Promise<Outcome> {
  const { id = "", label = "", times = 1 } = operation;
  const limit = Date.now() + (operation.timeout ?? untilMs);
  while (Date.now() < limit) {
    const trace = (await host.observe()).trace[id] ?? [];
    if (trace.filter((line) => line === label).length >= times) return { reached: label };
    await pauseFor(15);
  }
  return { gaveUp: label };
}

/** Keeps the ids of what was created, and puts names in place of generated ones. */
function remember(
  operation: Operation,
  outcome: Outcome,
  realIds: Map<string, string>,
  known: Set<string>,
): Outcome {
  const { ok } = outcome;
  if (ok && operation.op === "create") {
    const id = String(ok.id);
    const name = operation.as ?? operation.id ?? id;
    realIds.set(name, id);
    known.add(name);
    return operation.as ? { ok: { id: `<${operation.as}>`, idIsUuid: uuid.test(id) } } : outcome;
  }
  if (ok && operation.op === "batch") {
    const ids = ok.ids as string[];
    const generated = operation.items?.some((item) => !item.id) ?? false;
    const names = ids.map((id, n) => (generated ? `batch${n}` : id));
    for (const [n, name] of names.entries()) {
      realIds.set(name, ids[n]!);
      known.add(name);
    }
    return { ok: { ids: generated ? names.map((name) => `<${name}>`) : ids } };
  }
  return outcome;
}

function countsOf(notes: Notes, id: string): Record<string, number> {
  const prefix = `${id}/`;
  return Object.fromEntries(
    Object.entries(notes.counts)
      .filter(([key]) => key.startsWith(prefix))
      .map(([key, count]) => [key.slice(prefix.length), count]),
  );
}

// ---------------------------------------------------------------- comparison

/** An entry of expected.json. */
export interface Expectation {
  readonly level: "core" | "edge" | "quirk" | "info";
  readonly compare?: Partial<Rules>;
  readonly recorded: ProgramRecord;
  readonly desired?: Partial<ProgramRecord>;
}

interface Rules {
  readonly output: "exact" | "loose" | "none";
  readonly error: "exact" | "present" | "none";
  readonly trace: "exact" | "set" | "none";
  readonly counts: "exact" | "none";
  readonly drive: "outcome" | "none";
}

const strict: Rules = { output: "exact", error: "exact", trace: "exact", counts: "exact", drive: "outcome" };

export interface Difference {
  readonly where: string;
  readonly expected: unknown;
  readonly got: unknown;
}

/** What differs between an outcome and the recorded one (or, where that one is a defect, the desired one). */
export function compareRecord(expectation: Expectation, got: ProgramRecord): Difference[] {
  const rules: Rules = { ...strict, ...expectation.compare };
  const want: ProgramRecord = { ...expectation.recorded, ...expectation.desired };
  return [
    ...Object.keys(want.final).flatMap((id) => compareFinal(id, want.final[id]!, got.final[id], rules)),
    ...Object.keys(want.trace).flatMap((id) => compareNotes(id, want, got, rules)),
    ...(rules.drive === "none" ? [] : want.drive.flatMap((entry, n) => compareDrive(entry, got.drive[n], n))),
  ];
}

function compareFinal(id: string, want: FinalState, got: FinalState | undefined, rules: Rules): Difference[] {
  const where = `final.${id}`;
  if (!got || Boolean(want.unavailable) !== Boolean(got.unavailable)) {
    return [{ where, expected: want, got }];
  }
  if (want.unavailable) return [];
  const found: Difference[] = [];
  const note = (field: keyof FinalState): void => {
    found.push({ where: `${where}.${field}`, expected: want[field], got: got[field] });
  };
  if (!sameStatus(want.status, got.status)) note("status");
  if (rules.output === "exact" && !same(want.output, got.output)) note("output");
  if (rules.output === "loose" && !sameLoosely(want.output, got.output)) note("output");
  if (rules.error !== "none" && !sameError(want.error, got.error, rules.error)) note("error");
  return found;
}

function compareNotes(id: string, want: ProgramRecord, got: ProgramRecord, rules: Rules): Difference[] {
  const found: Difference[] = [];
  const inOrder = (list: readonly string[]) => (rules.trace === "set" ? [...list].sort() : list);
  if (rules.trace !== "none" && !same(inOrder(want.trace[id] ?? []), inOrder(got.trace[id] ?? []))) {
    found.push({ where: `trace.${id}`, expected: want.trace[id], got: got.trace[id] });
  }
  if (rules.counts !== "none" && !same(want.counts[id] ?? {}, got.counts[id] ?? {})) {
    found.push({ where: `counts.${id}`, expected: want.counts[id], got: got.counts[id] });
  }
  return found;
}

function compareDrive(want: DriveEntry, got: DriveEntry | undefined, n: number): Difference[] {
  const difference = [{ where: `drive[${n}] ${want.op}`, expected: want, got }];
  if (!got || kindOf(want) !== kindOf(got)) return difference;
  const agrees =
    want.op === "until"
      ? sameStatus(want.reached ?? want.gaveUp, got.reached ?? got.gaveUp)
      : want.op === "status" && want.ok
        ? sameStatus(want.ok.status, got.ok?.status)
        : want.op === "batch" && want.ok
          ? same(want.ok.ids, got.ok?.ids)
          : true;
  return agrees ? [] : difference;
}

function kindOf(entry: DriveEntry): "error" | "gaveUp" | "done" {
  return "error" in entry ? "error" : "gaveUp" in entry ? "gaveUp" : "done";
}

/** Engines differ in when they show which of these, so they count as one. */
const live = new Set<unknown>(["queued", "running", "waiting", "active"]);

function sameStatus(want: unknown, got: unknown): boolean {
  const [a, b] = [want, got].map((status) => (live.has(status) ? "live" : status));
  // An engine may show a pause that is still to come as such, as live, or as paused already.
  if (a === "waitingForPause" || b === "waitingForPause") {
    return [a, b].every((status) => ["waitingForPause", "live", "paused"].includes(String(status)));
  }
  return a === b;
}

function sameError(
  want: ErrorText | null | undefined,
  got: ErrorText | null | undefined,
  rule: "exact" | "present",
): boolean {
  if (!want || !got) return Boolean(want) === Boolean(got);
  return rule === "present" || (want.name === got.name && want.message === got.message);
}

function same(want: unknown, got: unknown): boolean {
  return canonical(want ?? null) === canonical(got ?? null);
}

function canonical(value: unknown): string {
  if (typeof value === "bigint") return `${value}n`;
  if (value === null || typeof value !== "object") return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  const parts = Object.entries(value)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, part]) => `${JSON.stringify(key)}:${canonical(part)}`);
  return `{${parts.join(",")}}`;
}

/** As `same`, but the words of the engine's own errors are free. */
function sameLoosely(want: unknown, got: unknown): boolean {
  if (isErrorText(want)) return isErrorText(got);
  if (want === null || typeof want !== "object") return same(want, got);
  if (got === null || typeof got !== "object" || Array.isArray(want) !== Array.isArray(got)) return false;
  const [a, b] = [want, got] as [Record<string, unknown>, Record<string, unknown>];
  const keys = Object.keys(a);
  if (keys.length !== Object.keys(b).length) return false;
  const described = "name" in a && "message" in a && /Error$/.test(String(a.name));
  if (described && (typeof b.name !== "string" || typeof b.message !== "string")) return false;
  return keys.every(
    (key) => (described && (key === "name" || key === "message")) || sameLoosely(a[key], b[key]),
  );
}

function isErrorText(value: unknown): boolean {
  return typeof value === "string" && /^[A-Za-z]*Error(:|$)/.test(value);
}
