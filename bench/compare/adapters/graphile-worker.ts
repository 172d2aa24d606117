/** Graphile Worker on PostgreSQL: a queue, so a workflow is 5 jobs of which each adds the next. */
import { type Alternative, type Open, stepCount } from "../alternative.ts";

export const alternative: Alternative = {
  name: "graphile-worker",
  title: "Graphile Worker",
  stores: ["postgres"],
  packages: { "graphile-worker": "0.18.0" },
  notes: [
    "A queue without durable execution: a workflow is 5 jobs, each of which adds the next, and it has no waiting for events.",
    "Its jobs are on the same server, with the same durability.",
  ],
};

interface Data {
  readonly id: string;
  readonly step: number;
  readonly kind: "five" | "sleeper";
}

type AddJob = (task: string, data: Data, options?: { runAt: Date }) => Promise<unknown>;

/** The little of the library that is used here. */
interface Library {
  readonly Logger: new (factory: () => () => void) => object;
  makeWorkerUtils(options: object): Promise<{
    migrate(): Promise<void>;
    addJob: AddJob;
    release(): Promise<void>;
  }>;
  run(options: object): Promise<{ stop(): Promise<void> }>;
}

const concurrency = 32;
const poolSize = 40;
const pollInterval = 1000;

export const open: Open = async ({ room, load, observer }) => {
  const { Logger, makeWorkerUtils, run } = await load<Library>("graphile-worker");
  const logger = new Logger(() => () => {});
  const utils = await makeWorkerUtils({ connectionString: room.url, logger });
  await utils.migrate();
  const ended = new Map<string, () => void>();
  const results = new Map<string, Promise<void>>();
  const step = async (data: Data, { addJob }: { readonly addJob: AddJob }): Promise<void> => {
    if (data.kind === "sleeper") observer.awake(data.id);
    else if (data.step < stepCount - 1) await addJob("step", { ...data, step: data.step + 1 });
    else {
      observer.ended(data.id);
      ended.get(data.id)?.();
    }
  };
  const worker = { localQueue: { size: 64 }, completeJobBatchDelay: 0, concurrentJobs: concurrency };
  const runner = await run({
    connectionString: room.url,
    concurrency,
    maxPoolSize: poolSize,
    pollInterval,
    taskList: { step },
    logger,
    noHandleSignals: true,
    preset: { worker: { ...worker, maxPoolSize: poolSize, pollInterval, logger } },
  });
  return {
    settings: `a concurrency of ${concurrency}, a local queue of 64, completion in batches, a pool of ${poolSize} connections`,
    startsAtOnce: 32,
    async startFive(id) {
      results.set(id, new Promise((resolve) => void ended.set(id, resolve)));
      await utils.addJob("step", { id, step: 0, kind: "five" });
    },
    result: async (id) => results.get(id),
    events: null,
    sleeps: {
      async start(id, ms) {
        observer.asleep(id);
        await utils.addJob("step", { id, step: 0, kind: "sleeper" }, { runAt: new Date(Date.now() + ms) });
      },
    },
    async close() {
      await runner.stop();
      await utils.release();
    },
  };
};
