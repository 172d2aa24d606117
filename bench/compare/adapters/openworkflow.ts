/** OpenWorkflow on SQLite or PostgreSQL. */
import { type Alternative, type Open, stepCount } from "../alternative.ts";

export const alternative: Alternative = {
  name: "openworkflow",
  title: "OpenWorkflow",
  stores: ["sqlite", "postgres"],
  packages: { openworkflow: "0.10.1", postgres: "3.4.9" },
  notes: [
    "Every step is two transactions, with the durability of the same server, or on SQLite in WAL mode with synchronous FULL.",
    "Work and results are looked for by polling, which is most of its latency: see the time to the last step.",
  ],
};

interface Step {
  run(options: { name: string }, body: () => Promise<unknown>): Promise<unknown>;
  sleep(name: string, duration: string): Promise<void>;
  waitForSignal(options: { name: string; signal: string; timeout: string }): Promise<unknown>;
}

interface Input {
  readonly id: string;
  readonly ms: number;
}

interface Handle {
  result(options: { timeoutMs: number }): Promise<unknown>;
}

type Body = (given: { readonly input: Input; readonly step: Step }) => Promise<unknown>;

interface Workflow {
  run(input: Input): Promise<Handle>;
}

interface Backend {
  stop(): Promise<void>;
}

/** The little of the library that is used here. */
interface Library {
  readonly OpenWorkflow: new (options: {
    backend: Backend;
  }) => {
    defineWorkflow(options: { name: string }, body: Body): Workflow;
    newWorker(options: { concurrency: number }): { start(): Promise<void>; stop(): Promise<void> };
    sendSignal(signal: { signal: string; data: unknown }): Promise<unknown>;
  };
}

const resultMs = 120_000;

export const open: Open = async ({ store, room, load, observer }) => {
  const { OpenWorkflow } = await load<Library>("openworkflow");
  const backend = await connect(store, room.url, load);
  const library = new OpenWorkflow({ backend });
  const step = (steps: Step, n: number): Promise<unknown> =>
    steps.run({ name: `step ${n}` }, async () => ({ n, ok: true }));
  const five = library.defineWorkflow({ name: "five" }, async ({ input, step: steps }) => {
    for (let n = 0; n < stepCount; n++) await step(steps, n);
    observer.ended(input.id);
  });
  const waiter = library.defineWorkflow({ name: "waiter" }, async ({ input, step: steps }) => {
    observer.waits(input.id);
    await steps.waitForSignal({ name: "go", signal: `go ${input.id}`, timeout: "1h" });
    await step(steps, 0);
    observer.ended(input.id);
  });
  const sleeper = library.defineWorkflow({ name: "sleeper" }, async ({ input, step: steps }) => {
    observer.asleep(input.id);
    await steps.sleep("nap", `${input.ms}ms`);
    observer.awake(input.id);
    await step(steps, 0);
    observer.ended(input.id);
  });
  const concurrency = store === "postgres" ? 32 : 16;
  const worker = library.newWorker({ concurrency });
  await worker.start();
  const handles = new Map<string, Handle>();
  const start = async (workflow: Workflow, id: string, ms = 0): Promise<void> =>
    void handles.set(id, await workflow.run({ id, ms }));
  return {
    settings: `one worker with a concurrency of ${concurrency}, otherwise its defaults`,
    startsAtOnce: 32,
    startFive: (id) => start(five, id),
    result: async (id) => handles.get(id)?.result({ timeoutMs: resultMs }),
    events: {
      start: (id) => start(waiter, id),
      settleMs: 2000,
      send: (id) => library.sendSignal({ signal: `go ${id}`, data: 1 }),
    },
    sleeps: { start: (id, ms) => start(sleeper, id, ms) },
    async close() {
      await worker.stop();
      await backend.stop();
    },
  };
};

async function connect(
  store: string,
  url: string,
  load: <Module>(specifier: string) => Promise<Module>,
): Promise<Backend> {
  if (store === "postgres") {
    const module = await load<{ BackendPostgres: { connect(url: string): Promise<Backend> } }>(
      "openworkflow/postgres",
    );
    return module.BackendPostgres.connect(url);
  }
  const module = await load<{ BackendSqlite: { connect(file: string): Backend } }>("openworkflow/sqlite");
  return module.BackendSqlite.connect(url);
}
