import { expect, test } from "vitest";
import type { Json } from "../support/checked-answer.ts";
import { instancesOf, type World } from "../support/world.ts";

interface List {
  readonly path: string;
  readonly key: string;
  readonly name: (item: Json) => string;
  /** Fields and parameters of the list in a history are named after it. */
  readonly cursor?: string;
  readonly hasNextPage?: string;
}

/** Page after page, by the cursors given; each page but the last is full. */
async function everything(world: World, list: List, pageSize: number): Promise<string[]> {
  const { path, key, name, cursor = "cursor", hasNextPage = "hasNextPage" } = list;
  const found: string[] = [];
  let next: string | undefined;
  do {
    const mark = next === undefined ? "" : `&${cursor}=${next}`;
    const { body } = await world.get(`${path}${path.includes("?") ? "&" : "?"}pageSize=${pageSize}${mark}`);
    found.push(...body[key].map(name));
    next = body[cursor];
    expect(body[hasNextPage], path).toBe(next !== undefined);
    if (next !== undefined) expect(body[key], path).toHaveLength(pageSize);
  } while (next !== undefined);
  return found;
}

export function pages(world: () => World): void {
  test("every list is gone through to its end, page by page, with nothing twice and nothing left out", async () => {
    const topic = world().id("paged");
    const ids = Array.from({ length: 7 }, () => world().id("paged"));
    const instances = ids.map((id) => ({ id, params: { topic } }));
    await world().post(`${instancesOf("listener")}/batch`, { instances });
    await world().run();
    const path = await world().made("chatty", { steps: 7 });
    for (let n = 0; n < 3; n++) await world().post(`${path}/events`, { type: "noted", payload: n });
    for (let n = 0; n < 3; n++) await world().made("flaky", {}, world().id("dead"));
    await world().pass("1 minute");
    const id = (item: { id: string }) => item.id;
    const numbers = Array.from({ length: 7 }, (_, n) => n);
    const steps = {
      key: "steps",
      name: ({ stepKey }: Json) => stepKey,
      cursor: "stepsCursor",
      hasNextPage: "stepsHasNextPage",
    };
    const events = {
      key: "events",
      name: ({ payload }: Json) => String(payload),
      cursor: "eventsCursor",
      hasNextPage: "eventsHasNextPage",
    };
    const logs = {
      key: "logs",
      name: ({ message }: Json) => message,
      cursor: "logsCursor",
      hasNextPage: "logsHasNextPage",
    };
    const lines = numbers.map((n) => `line ${n}`);
    const lists: readonly (readonly [List, readonly string[]])[] = [
      [{ path: `${instancesOf("listener")}?status=waiting&order=asc`, key: "instances", name: id }, ids],
      [{ path: `${path}/history`, ...steps }, [...numbers.map((n) => `step ${n}`), "done"]],
      [
        { path: `${path}/history?order=desc`, ...steps },
        ["done", ...numbers.map((n) => `step ${n}`).reverse()],
      ],
      [{ path: `${path}/history`, ...events }, ["0", "1", "2"]],
      [{ path: `${path}/history?includeLogs=true`, ...logs }, lines],
      [{ path: `${path}/history?includeLogs=true&logLevel=error`, ...logs }, ["line 1", "line 3", "line 5"]],
      [
        { path: `${path}/logs?order=desc`, key: "logs", name: ({ message }: Json) => message },
        lines.toReversed(),
      ],
    ];
    for (const [list, expected] of lists)
      expect(
        (await everything(world(), list, 3)).filter((each) => expected.includes(each)),
        list.path,
      ).toEqual(expected);
    const waiters = {
      path: `/topics/${topic}/waiters`,
      key: "waiters",
      name: ({ instanceId }: Json) => instanceId,
    };
    expect((await everything(world(), waiters, 3)).sort()).toEqual(ids.toSorted());
    const { counts } = (await world().get("/counts")).body;
    const total = Object.values(counts as Record<string, number>).reduce((sum, count) => sum + count);
    const name = ({ id: own, meta }: Json) => `${meta.workflowName}/${own}`;
    const all = await everything(world(), { path: "/instances", key: "instances", name }, 30);
    expect([all.length, new Set(all).size]).toEqual([total, total]);
    const dead = await everything(world(), { path: "/dead-letters", key: "instances", name: id }, 2);
    expect(dead.filter((each) => each.startsWith("dead-"))).toHaveLength(3);
  });

  test("a page has 25 entries unless another size is asked for", async () => {
    // Nobody shall run them while others are tested.
    const startAt = world().runtime.now() + 365 * 86_400_000;
    const instances = Array.from({ length: 30 }, () => ({ id: world().id("many"), startAt }));
    await world().post(`${instancesOf("capped")}/batch`, { instances });
    const { body } = await world().get(instancesOf("capped"));
    expect([body.instances.length, body.hasNextPage]).toEqual([25, true]);
    const { body: whole } = await world().get(`${instancesOf("capped")}?pageSize=100`);
    expect(whole.instances.length).toBeGreaterThanOrEqual(30);
  });
}
