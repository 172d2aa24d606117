/** Absurd on PostgreSQL. Its package has no schema: that is a file of its repository, which has to be given. */
import { readFileSync } from "node:fs";
import { type Alternative, type Open, stepCount } from "../alternative.ts";

const schemaVariable = "EVERSTEP_BENCH_ABSURD_SQL";

export const alternative: Alternative = {
  name: "absurd",
  title: "Absurd",
  stores: ["postgres"],
  packages: { "absurd-sdk": "0.5.0", pg: "8.23.1" },
  notes: ["Every step is a transaction on the same server, with the same durability."],
};

interface Params {
  readonly id: string;
  readonly ms: number;
}

interface Context {
  step(name: string, body: () => Promise<unknown>): Promise<unknown>;
  awaitEvent(name: string): Promise<unknown>;
  sleepFor(name: string, seconds: number): Promise<void>;
}

/** The little of the libraries that is used here. */
interface App {
  createQueue(): Promise<void>;
  registerTask(options: { name: string }, body: (params: Params, ctx: Context) => Promise<unknown>): void;
  startWorker(options: { concurrency: number; pollInterval: number }): Promise<unknown>;
  spawn(name: string, params: Params): Promise<{ readonly taskID: string }>;
  awaitTaskResult(taskId: string, options: { timeout: number }): Promise<unknown>;
  emitEvent(name: string, payload: unknown): Promise<void>;
  close(): Promise<void>;
}

interface Pool {
  query(text: string): Promise<unknown>;
  end(): Promise<void>;
}

const concurrency = 32;
const pollMs = 50;

export const open: Open = async ({ room, load, observer }) => {
  const { Absurd } = await load<{ Absurd: new (options: object) => App }>("absurd-sdk");
  const { default: pg } = await load<{ default: { Pool: new (options: object) => Pool } }>("pg");
  const pool = new pg.Pool({ connectionString: room.url, max: 20 });
  await pool.query(readSchema());
  const quiet = { log() {}, info() {}, warn() {}, error() {} };
  const app = new Absurd({ db: pool, queueName: "default", log: quiet });
  await app.createQueue();
  const step = (ctx: Context, n: number): Promise<unknown> =>
    ctx.step(`step ${n}`, async () => ({ n, ok: true }));
  app.registerTask({ name: "five" }, async ({ id }, ctx) => {
    for (let n = 0; n < stepCount; n++) await step(ctx, n);
    observer.ended(id);
  });
  app.registerTask({ name: "waiter" }, async ({ id }, ctx) => {
    observer.waits(id);
    await ctx.awaitEvent(`go ${id}`);
    await step(ctx, 0);
    observer.ended(id);
  });
  app.registerTask({ name: "sleeper" }, async ({ id, ms }, ctx) => {
    observer.asleep(id);
    await ctx.sleepFor("nap", ms / 1000);
    observer.awake(id);
    await step(ctx, 0);
    observer.ended(id);
  });
  await app.startWorker({ concurrency, pollInterval: pollMs / 1000 });
  const tasks = new Map<string, string>();
  const start = async (name: string, id: string, ms = 0): Promise<void> =>
    void tasks.set(id, (await app.spawn(name, { id, ms })).taskID);
  return {
    settings: `a concurrency of ${concurrency}, looking every ${pollMs} ms (its default is 250), a pool of 20 connections`,
    startsAtOnce: 32,
    startFive: (id) => start("five", id),
    result: async (id) => app.awaitTaskResult(tasks.get(id) ?? "", { timeout: 120 }),
    events: {
      start: (id) => start("waiter", id),
      settleMs: 1000,
      send: (id) => app.emitEvent(`go ${id}`, 1),
    },
    sleeps: { start: (id, ms) => start("sleeper", id, ms) },
    async close() {
      await app.close();
      await pool.end();
    },
  };
};

function readSchema(): string {
  const file = process.env[schemaVariable];
  if (file) return readFileSync(file, "utf8");
  throw new Error(
    `its package has no schema; set ${schemaVariable} to the absurd.sql of its repository in the same version`,
  );
}
