/** Ten thousand requests of all kinds: every one is answered, none with a failure, and what is refused changes nothing. */
import { allowAll } from "everstep";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { checkedAnswer } from "./support/checked-answer.ts";
import { type Known, type RandomRequest, randomRequests } from "./support/random-requests.ts";
import { everyRoute } from "./support/sample-requests.ts";
import { createWatched } from "./support/watched-app.ts";

const worlds = 20;
const requestsEach = 550;
const seed = Number(process.env.EVERSTEP_FUZZ_SEED ?? 5);

async function begin() {
  const watched = createWatched({ authorize: allowAll(), http: everyRoute });
  const { app, runtime } = watched;
  for (let n = 0; n < 3; n++) await app.workflows.ORDER.create({ id: `order-${n}`, params: { amount: n } });
  for (const key of ["FLAKY", "DOOMED", "SLEEPER", "QUICK"] as const)
    await app.workflows[key].create({ id: "one" });
  await app.workflows.LISTENER.create({ id: "one", params: { topic: "news" } });
  await app.workflows.CHATTY.create({ id: "one", params: { steps: 3 } });
  await app.tick();
  await runtime.advance("2 minutes");
  await app.tick();
  for (let n = 0; n < 2; n++) await app.workflows.CHATTY.at("one").sendEvent({ type: "noted", payload: n });
  return watched;
}

type Watched = Awaited<ReturnType<typeof begin>>;

async function knownOf({ app }: Watched): Promise<Known> {
  const ask = async (path: string) => (await app.fetch(new Request(`http://localhost${path}`))).json();
  const history = await ask("/workflows/chatty/instances/one/history?pageSize=1&includeLogs=true");
  const lists = await Promise.all(
    ["/instances?pageSize=1", "/workflows/order/instances?pageSize=1"].map(ask),
  );
  const all = await ask("/instances?pageSize=100");
  return {
    instances: all.instances.map(({ id, meta }: { id: string; meta: { workflowName: string } }) => [
      meta.workflowName,
      id,
    ]),
    cursors: [
      history.stepsCursor,
      history.eventsCursor,
      history.logsCursor,
      ...lists.map(({ cursor }) => cursor),
    ],
  };
}

function requestFrom({ method, path, headers, body }: RandomRequest): Request {
  const isBare = method === "GET" || method === "HEAD" || body === undefined;
  return new Request(`http://localhost${path}`, { method, headers, ...(isBare ? {} : { body }) });
}

/** The status, after everything else about the answer was checked. */
async function answerTo({ app }: Watched, given: RandomRequest) {
  const response = await app.fetch(requestFrom(given));
  const isStream = response.headers.get("content-type")?.startsWith("text/event-stream") === true;
  if (isStream) await response.body?.cancel();
  else await checkedAnswer(given, response);
  return { status: response.status, isStream };
}

describe("whatever is sent is answered with what was asked for, or with what is wrong with it", () => {
  const outcomes = new Map<string, number>();

  test.each(Array.from({ length: worlds }, (_, n) => n))(
    `${requestsEach} requests, part %i`,
    async (part) => {
      const watched = await begin();
      const known = await knownOf(watched);
      let before = watched.contents();
      const property = fc.asyncProperty(randomRequests(known), async (given) => {
        const { status, isStream } = await answerTo(watched, given);
        const after = watched.contents();
        const hasChanged = after !== before;
        before = after;
        expect(status).toBeLessThan(500);
        const mayChange = given.method === "POST" || given.method === "DELETE";
        if (status >= 400 || !mayChange) expect(hasChanged).toBe(false);
        const outcome = isStream ? "stream" : hasChanged ? "changed" : `${status}`;
        outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
      });
      await fc.assert(property, { numRuns: requestsEach, seed: seed * 1000 + part, endOnFailure: true });
      expect(watched.problems).toEqual([]);
      expect(await watched.app.verify()).toMatchObject({ ok: true });
    },
  );

  test("they came to every sort of end, and there were ten thousand of them", () => {
    const total = [...outcomes.values()].reduce((sum, count) => sum + count, 0);
    expect(total).toBeGreaterThanOrEqual(10_000);
    for (const outcome of ["200", "204", "400", "403", "404", "405", "413", "415", "changed", "stream"])
      expect(outcomes.get(outcome) ?? 0, outcome).toBeGreaterThan(10);
  });
});
