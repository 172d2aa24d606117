/** A cursor over HTTP is a place in one list. Whatever else comes as one is refused, and shows nothing of another list. */
import { allowAll } from "everstep";
import { describe, expect, test } from "vitest";
import type { Json } from "./support/checked-answer.ts";
import { createWatched } from "./support/watched-app.ts";

interface List {
  readonly path: string;
  /** Of the parameter, which is also that of the field. */
  readonly cursor: string;
  readonly items: string;
}

const lists: readonly List[] = [
  { path: "/workflows/chatty/instances?pageSize=1", cursor: "cursor", items: "instances" },
  { path: "/workflows/order/instances?pageSize=1", cursor: "cursor", items: "instances" },
  { path: "/instances?pageSize=1", cursor: "cursor", items: "instances" },
  { path: "/topics/news/waiters?pageSize=1", cursor: "cursor", items: "waiters" },
  { path: "/chatty/instances/a/history?pageSize=1", cursor: "stepsCursor", items: "steps" },
  { path: "/chatty/instances/a/history?pageSize=1", cursor: "eventsCursor", items: "events" },
  { path: "/chatty/instances/a/history?pageSize=1&includeLogs=true", cursor: "logsCursor", items: "logs" },
  { path: "/chatty/instances/a/logs?pageSize=1", cursor: "cursor", items: "logs" },
  { path: "/verify?limit=1", cursor: "after", items: "violations" },
];

async function begin() {
  const { app, contents } = createWatched({ authorize: allowAll() });
  for (const id of ["a", "b", "c"]) {
    await app.workflows.ORDER.create({ id });
    await app.workflows.LISTENER.create({ id, params: { topic: "news" } });
    const chatty = await app.workflows.CHATTY.create({ id, params: { steps: 3 } });
    for (let n = 0; n < 3; n++) await chatty.sendEvent({ type: "noted", payload: `${id}${n}` });
  }
  await app.tick();
  const page = async ({ path, cursor, items }: List, given?: string) => {
    const mark = given === undefined ? "" : `&${cursor}=${encodeURIComponent(given)}`;
    const response = await app.fetch(new Request(`http://localhost${path}${mark}`));
    const body: Json = await response.json();
    const names = (body[items] ?? []).map((item: object) => JSON.stringify(item));
    return {
      status: response.status,
      code: body.error?.code,
      names,
      next: body[cursor] as string | undefined,
    };
  };
  const all = async (list: List) => {
    const names: string[] = [];
    let next: string | undefined;
    do {
      const found = await page(list, next);
      names.push(...found.names);
      next = found.next;
    } while (next !== undefined);
    return names;
  };
  return { page, all, contents };
}

describe("SEC-20 a cursor over HTTP", () => {
  test.each(lists)(
    "of $path ($cursor), with any of its bytes changed, leads into its own list or nowhere",
    async (list) => {
      const { page, all, contents } = await begin();
      const before = contents();
      const own = await all(list);
      const { next = "" } = await page(list);
      expect(next).not.toBe("");
      let refused = 0;
      for (let at = 0; at < next.length; at++) {
        for (const bit of [1, 2, 32, 64]) {
          const changed = String.fromCharCode(next.charCodeAt(at) ^ bit);
          const { status, code, names } = await page(list, next.slice(0, at) + changed + next.slice(at + 1));
          if (status !== 200) {
            expect([status, code]).toEqual([400, "INVALID_CURSOR"]);
            refused += 1;
          } else for (const name of names) expect(own).toContain(name);
        }
      }
      expect(refused).toBeGreaterThan(next.length * 2);
      expect(contents()).toBe(before);
    },
  );

  test("of one list is good for no other", async () => {
    const { page } = await begin();
    for (const from of lists) {
      const { next } = await page(from);
      for (const to of lists.filter(
        (list) =>
          list.items !== from.items || list.path.includes("/order/") !== from.path.includes("/order/"),
      )) {
        const { status, code } = await page(to, next);
        expect([status, code], `${from.path} -> ${to.path}`).toEqual([400, "INVALID_CURSOR"]);
      }
    }
  });

  test.each(["", " ", "null", "-", "AAAA", "W10", "e30", "x".repeat(600), "\u0000", "..%2f", "WzFd"])(
    "is not %j",
    async (given) => {
      const { page } = await begin();
      for (const list of lists)
        expect(await page(list, given), list.path).toMatchObject({ status: 400, code: "INVALID_CURSOR" });
    },
  );
});
