/** BullMQ on Redis: a queue, so a workflow is 5 jobs of which each adds the next. */
import { type Alternative, type Open, stepCount } from "../alternative.ts";

export const alternative: Alternative = {
  name: "bullmq",
  title: "BullMQ",
  stores: ["redis"],
  packages: { bullmq: "6.7.0" },
  notes: [
    "A queue without durable execution: a workflow is 5 jobs, each of which adds the next; nothing is recorded of a job that has ended, and it has no waiting for events.",
    "Its jobs are on the same server with the same appendfsync.",
  ],
};

interface Job {
  readonly data: { readonly id: string; readonly step: number; readonly kind: "five" | "sleeper" };
}

interface Connected {
  close(force?: boolean): Promise<void>;
  waitUntilReady(): Promise<unknown>;
  on(name: "error" | "completed", listener: (job: Job) => void): void;
}

/** The little of the library that is used here. */
interface Library {
  readonly Queue: new (
    name: string,
    options: object,
  ) => Connected & { add(name: string, data: Job["data"], options?: { delay: number }): Promise<unknown> };
  readonly Worker: new (name: string, body: (job: Job) => Promise<unknown>, options: object) => Connected;
}

const concurrency = 100;

export const open: Open = async ({ room, load, observer }) => {
  const { Queue, Worker } = await load<Library>("bullmq");
  const { hostname, port, username, password, pathname } = new URL(room.url);
  const connection = {
    host: hostname,
    port: Number(port || 6379),
    db: Number(pathname.slice(1) || 0),
    ...(username && { username }),
    ...(password && { password }),
    maxRetriesPerRequest: null,
  };
  const shared = { connection, prefix: room.prefix };
  const queue = new Queue("five", { ...shared, defaultJobOptions: { removeOnComplete: true } });
  const waiting = new Map<string, () => void>();
  const results = new Map<string, Promise<void>>();
  const isLast = ({ kind, step }: Job["data"]): boolean => kind === "sleeper" || step === stepCount - 1;
  const worker = new Worker(
    "five",
    async ({ data }) => {
      if (data.kind === "sleeper") observer.awake(data.id);
      else if (isLast(data)) observer.ended(data.id);
      else await queue.add("step", { ...data, step: data.step + 1 });
      return { n: data.step, ok: true };
    },
    { ...shared, concurrency },
  );
  worker.on("error", () => {});
  worker.on("completed", ({ data }) => {
    if (isLast(data)) waiting.get(data.id)?.();
  });
  await Promise.all([queue.waitUntilReady(), worker.waitUntilReady()]);
  return {
    settings: `one worker with a concurrency of ${concurrency}, jobs removed when they are complete`,
    startsAtOnce: 64,
    async startFive(id) {
      results.set(id, new Promise((resolve) => void waiting.set(id, resolve)));
      await queue.add("step", { id, step: 0, kind: "five" });
    },
    result: async (id) => results.get(id),
    events: null,
    sleeps: {
      async start(id, delay) {
        observer.asleep(id);
        await queue.add("step", { id, step: 0, kind: "sleeper" }, { delay });
      },
    },
    async close() {
      await worker.close(true);
      await queue.close();
    },
  };
};
