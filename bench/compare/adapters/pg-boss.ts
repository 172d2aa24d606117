/** pg-boss on PostgreSQL: a queue, so a workflow is 5 jobs of which each batch adds the next. */
import { type Alternative, type Open, stepCount } from "../alternative.ts";

export const alternative: Alternative = {
  name: "pg-boss",
  title: "pg-boss",
  stores: ["postgres"],
  packages: { "pg-boss": "12.34.0" },
  notes: [
    "A queue without durable execution: a workflow is 5 jobs, each of which adds the next, and it has no waiting for events.",
    "It looks for jobs every 0.5 s, the least it allows, which is most of its latency and bounds its throughput.",
    "Its jobs are on the same server, with the same durability.",
  ],
};

interface Job {
  readonly data: { readonly id: string; readonly step: number; readonly kind: "five" | "sleeper" };
}

/** The little of the library that is used here. */
interface Boss {
  on(name: "error", listener: () => void): void;
  start(): Promise<unknown>;
  stop(options: { graceful: boolean }): Promise<void>;
  createQueue(name: string): Promise<void>;
  send(name: string, data: Job["data"], options?: { startAfter: number }): Promise<unknown>;
  insert(name: string, jobs: readonly Job[]): Promise<unknown>;
  work(name: string, options: object, body: (jobs: readonly Job[]) => Promise<unknown>): Promise<unknown>;
}

interface Library {
  readonly PgBoss: new (options: object) => Boss;
}

const queue = "five";
const workers = 4;
const batchSize = 500;

export const open: Open = async ({ room, load, observer }) => {
  const { PgBoss } = await load<Library>("pg-boss");
  const boss = new PgBoss({ connectionString: room.url, max: 20, schedule: false });
  boss.on("error", () => {});
  await boss.start();
  await boss.createQueue(queue);
  const ended = new Map<string, () => void>();
  const results = new Map<string, Promise<void>>();
  const work = async (jobs: readonly Job[]): Promise<void> => {
    const next: Job[] = [];
    for (const { data } of jobs) {
      if (data.kind === "sleeper") observer.awake(data.id);
      else if (data.step < stepCount - 1) next.push({ data: { ...data, step: data.step + 1 } });
      else {
        observer.ended(data.id);
        ended.get(data.id)?.();
      }
    }
    if (next.length > 0) await boss.insert(queue, next);
  };
  for (let n = 0; n < workers; n++) await boss.work(queue, { batchSize, pollingIntervalSeconds: 0.5 }, work);
  return {
    settings: `${workers} workers with batches of ${batchSize}, looking every 0.5 s, a pool of 20 connections`,
    startsAtOnce: 32,
    async startFive(id) {
      results.set(id, new Promise((resolve) => void ended.set(id, resolve)));
      await boss.send(queue, { id, step: 0, kind: "five" });
    },
    result: async (id) => results.get(id),
    events: null,
    sleeps: {
      async start(id, ms) {
        observer.asleep(id);
        await boss.send(queue, { id, step: 0, kind: "sleeper" }, { startAfter: ms / 1000 });
      },
    },
    close: () => boss.stop({ graceful: false }),
  };
};
