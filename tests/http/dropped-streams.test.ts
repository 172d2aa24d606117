/**
 * A server in one process, the work in another, and a client whose connection drops again and again: with Last-Event-ID
 * nothing is lost and nothing comes twice, on every store.
 */
import { allowAll, createWorkflows, defineWorkflow } from "everstep";
import { type Served, serve } from "everstep/node";
import { afterEach, describe, expect, test } from "vitest";
import { createSeededRandom } from "../../packages/everstep/src/testing/seeded-random.ts";
import type { Json } from "./support/checked-answer.ts";
import { EventReader, type StreamEvent } from "./support/event-reader.ts";
import { type Data, storesUnderTest } from "./support/stores.ts";

const talker = defineWorkflow({ name: "talker" }, async (event, step) => {
  for (let n = 0; n < event.payload.lines; n++) {
    await step.do(`say ${n}`, () => step.log.info(`line ${n}`, { text: "x".repeat(n % 50) }));
  }
  await step.waitForEvent("done", { type: "done", timeout: "1 day" });
  return "said";
});

const workflows = { TALKER: talker };
const lines = 40;

for (const store of storesUnderTest) {
  describe.skipIf(store.isMissing)(`dropped connections (${store.name})`, () => {
    let world: Awaited<ReturnType<typeof begin>> | undefined;
    afterEach(async () => {
      await world?.end();
      world = undefined;
    });

    test("every log line is had once and in order, through drops and a restart, up to the end", async () => {
      world = await begin(store.begin());
      const { worker, follow } = world;
      const dice = createSeededRandom(store.name);
      const instance = await worker.workflows.TALKER.create({ id: "t", params: { lines } });
      const following = follow(
        "/workflows/talker/instances/t/logs",
        dice.float,
        ({ event }) => event === "end",
      );
      // Whoever asks for the first time after the restart is told of the second run only.
      await following.begun;
      await workOn(worker, dice.float);
      await instance.restart();
      await workOn(worker, dice.float);
      await instance.sendEvent({ type: "done" });
      await worker.tick();
      const { events, drops } = await following.read;
      const ids = events.filter(({ event }) => event === "log").map(({ id }) => id);
      // The second run begins with the line that says that it was restarted.
      const of = (run: number, count: number) => Array.from({ length: count }, (_, n) => `${run}-${n + 1}`);
      expect(ids).toEqual([...of(1, lines), ...of(2, 1 + lines)]);
      expect(events.at(-1)).toEqual({ event: "end", data: { status: "complete" } });
      expect(drops).toBeGreaterThan(3);
    });

    test("what is shown of an instance comes to what it is in the end, whoever changed it", async () => {
      world = await begin(store.begin());
      const { worker, follow, get } = world;
      const dice = createSeededRandom(`${store.name} snapshots`);
      const instance = await worker.workflows.TALKER.create({ id: "t", params: { lines: 10 } });
      const isComplete = ({ data }: StreamEvent) => data.details.status === "complete";
      const following = follow("/workflows/talker/instances/t", dice.float, isComplete);
      const isListed = ({ data }: StreamEvent) => data.instances[0]?.details.status === "complete";
      const listing = follow("/instances", dice.float, isListed);
      await workOn(worker, dice.float);
      await instance.sendEvent({ type: "done" });
      await worker.tick();
      const { steps, running: _, ...last } = (await following.read).events.at(-1)!.data;
      expect(last).toEqual(await get("/workflows/talker/instances/t"));
      expect(steps.map(({ status }: Json) => status)).toEqual(Array(11).fill("completed"));
      const page = (await listing.read).events.at(-1)!.data;
      expect(page).toEqual(await get("/instances"));
    });
  });
}

async function begin(data: Data) {
  const open = () =>
    createWorkflows({
      workflows,
      store: data.open(),
      authorize: allowAll(),
      http: { maxStreams: 6 },
      onNotice: () => {},
    });
  // Two processes, as far as the store can tell.
  const [app, worker] = [open(), open()];
  await worker.migrate();
  const served: Served = await serve(app, { port: 0 });
  return {
    worker,
    get: async (path: string): Promise<Json> => (await fetch(new URL(path.slice(1), served.url))).json(),
    follow: (path: string, float: () => number, isLast: (event: StreamEvent) => boolean) =>
      follow(new URL(path.slice(1), served.url), float, isLast),
    async end() {
      await served.close();
      await Promise.all([app.stop(), worker.stop()]);
      await data.end();
    },
  };
}

/** A few steps at a time, until it waits. */
async function workOn(
  worker: { tick(options: object): Promise<{ processed: number }> },
  float: () => number,
) {
  while ((await worker.tick({ maxSteps: 1 + Math.floor(float() * 8) })).processed > 0);
}

/** Reads to the last event. Every now and then the connection drops in the middle of something. */
function follow(url: URL, float: () => number, isLast: (event: StreamEvent) => boolean) {
  let begin = (): void => {};
  const first = new Promise<void>((resolve) => {
    begin = resolve;
  });
  const read = readToLast(url, float, isLast, begin);
  return { begun: Promise.race([first, read]), read };
}

async function readToLast(
  url: URL,
  float: () => number,
  isLast: (event: StreamEvent) => boolean,
  onEvent: () => void,
) {
  const events: StreamEvent[] = [];
  let known: string | undefined;
  for (let drops = 0; ; drops++) {
    const gone = new AbortController();
    const headers = {
      accept: "text/event-stream",
      ...(known === undefined ? {} : { "last-event-id": known }),
    };
    const response = await fetch(url, { headers, signal: gone.signal });
    const isFull = response.status === 503;
    const reader = new EventReader(response);
    const patience = isFull ? 0 : 1 + Math.floor(float() * 12);
    for (let read = 0; read < patience || events.length > lines * 1.5; read++) {
      const event = await reader.next();
      if (!event) break;
      events.push(event);
      onEvent();
      known = event.id ?? known;
      if (isLast(event)) {
        gone.abort();
        return { events, drops };
      }
    }
    gone.abort();
  }
}
