/** Whoever may only read cannot bring a process to a stand: what is much work is shared, queued and followed by rests. */
import { createWorkflows, defineWorkflow, refuse } from "everstep";
import { memory } from "everstep/memory";
import { describe, expect, test } from "vitest";
import { partsOf } from "../../packages/everstep/src/client/app-parts.ts";
import { EventReader } from "./support/event-reader.ts";

const quick = defineWorkflow({ name: "quick" }, async (_event, step) => {
  await step.do("once", async () => 1);
  await step.waitForEvent("go", { type: "go" });
});

/** Counts reads of steps, and how many audits are under way at once. */
async function begin() {
  const store = memory();
  const counts = { listSteps: 0 };
  const { listSteps } = store;
  store.listSteps = async (...query) => {
    counts.listSteps += 1;
    return listSteps.apply(store, query);
  };
  const app = createWorkflows({
    workflows: { quick },
    store,
    authorize: {
      request: ({ request }) =>
        /(^|; )session=ann(;|$)/.test(request.headers.get("cookie") ?? "")
          ? { actor: "ann" }
          : refuse(401, "Sign in."),
    },
    http: { maxStreamsPerClient: 20 },
  });
  const { id } = await app.workflows.quick.create({ id: "q" });
  while ((await app.tick()).processed > 0);
  const ask = (path: string, headers: Record<string, string> = {}): Promise<Response> =>
    app.fetch(new Request(`http://localhost${path}`, { headers: { cookie: "session=ann", ...headers } }));
  const stream = (path: string, headers: Record<string, string> = {}): Promise<Response> =>
    ask(path, { accept: "text/event-stream", ...headers });
  return { app, ask, stream, counts, path: `/workflows/quick/instances/${id}` };
}

describe("streams that are opened at once", () => {
  test("share the first look too", async () => {
    const { stream, counts, path } = await begin();
    counts.listSteps = 0;
    const opened = await Promise.all(Array.from({ length: 20 }, () => stream(path)));
    const readers = opened.map((response) => new EventReader(response));
    for (const reader of readers) expect((await reader.next())?.data.id).toBe("q");
    expect(counts.listSteps).toBeLessThan(5);
    await Promise.all(readers.map((reader) => reader.cancel()));
  });

  test("of logs read no steps", async () => {
    const { stream, counts, path } = await begin();
    counts.listSteps = 0;
    await (await stream(`${path}/logs`)).body?.cancel();
    expect(counts.listSteps).toBe(0);
  });

  test("show what is there when they are asked for, not what another one was shown before", async () => {
    const { app, stream, path } = await begin();
    const first = new EventReader(await stream(path));
    expect((await first.next())?.data.details.status).toBe("waiting");
    await app.workflows.quick.at("q").pause();
    const second = new EventReader(await stream(path));
    expect((await second.next())?.data.details.status).toBe("paused");
    await Promise.all([first.cancel(), second.cancel()]);
  });
});

test("a person is one client, whatever else the headers say", async () => {
  const { stream } = await begin();
  const statuses: number[] = [];
  for (let n = 0; n < 22; n++) {
    const made = [{ cookie: `session=ann; seen=${n}` }, { authorization: `x ${n}` }][n % 2] ?? {};
    statuses.push((await stream("/workflows/quick/instances", made)).status);
  }
  expect(statuses).toEqual([...Array.from({ length: 20 }, () => 200), 503, 503]);
});

test("audits of one client are made one after the other", async () => {
  const { app, ask } = await begin();
  const parts = partsOf(app);
  const { listInstances } = parts.reads;
  let inside = 0;
  let most = 0;
  parts.reads.listInstances = async (...query) => {
    most = Math.max(most, ++inside);
    await new Promise((resolve) => setImmediate(resolve));
    inside -= 1;
    return listInstances.apply(parts.reads, query);
  };
  const answers = await Promise.all(Array.from({ length: 8 }, () => ask("/verify?history=true")));
  expect([answers.map(({ status }) => status), most]).toEqual([Array.from({ length: 8 }, () => 200), 1]);
});
