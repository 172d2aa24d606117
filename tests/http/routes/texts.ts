import { expect, test } from "vitest";
import { instancesOf, type World } from "../support/world.ts";

/** Text that means something to a database, a terminal, a header or a prototype. */
const hostile = {
  "a NUL": "a\u0000b",
  "control characters": "\u0001\u001b[31m\r\n\t\u007f\u0085",
  "half a surrogate pair": "\ud800x",
  "the other half": "x\udc00",
  "characters beyond the base plane": "😀𝕏\u{10ffff}",
  "no characters": "\ufffe\uffff\ufeff",
  "marks that turn text around": "\u202eabc\u2066",
  quotes: `'"\`\\';--/*`,
  placeholders: "$1 ? %s {0} :name @x",
  wildcards: "%_*[a-z]",
  "a prototype": "__proto__",
  "a constructor": "constructor",
  "a lot": "é".repeat(600),
  blanks: " \u00a0\u2003 ",
} as const;

/** Where a caller's text goes: in a path, a query or a body. */
const places: Readonly<Record<string, (world: World, text: string, path: string) => Promise<unknown>[]>> = {
  "a path": (world, text) => {
    const segment = encodeURIComponent(wellFormed(text));
    return [
      world.get(`/workflows/${segment}`),
      world.get(`${instancesOf("order")}/${segment}`),
      world.get(`/topics/${segment}/waiters`),
      world.post(`/topics/${segment}`),
    ];
  },
  "a query": (world, text, path) => {
    const value = encodeURIComponent(wellFormed(text));
    return [
      world.get(`/counts?workflowName=${value}`),
      world.get(`/dead-letters?workflowName=${value}`),
      world.get(`/verify?workflowName=${value}`),
      world.get(`/verify?after=${value}`),
      world.get(`/instances?cursor=${value}`),
      world.get(`/instances?status=${value}`),
      world.get(`${path}/logs?category=${value}`),
      world.get(`${path}/history?includeLogs=true&logCategory=${value}`),
      world.get(`${path}/history?stepsCursor=${cursorOf("steps", text)}`),
      world.get(`${path}/logs?cursor=${cursorOf("logs", text)}`),
      world.get(`/instances?cursor=${cursorOf("instances", text)}`),
    ];
  },
  "a body": (world, text, path) => [
    world.post(instancesOf("order"), { id: text }),
    world.post(instancesOf("quick"), { id: world.id(), params: { [text]: text } }),
    world.post(`${path}/events`, { type: text }),
    world.post(`${path}/events`, { type: "noted", idempotencyKey: text }),
    world.post("/topics/any", { payload: [text], idempotencyKey: text }),
    world.post(`${path}/restart`, { from: text }),
    world.post(`${path}/fork`, { newId: text }),
    world.post(`${path}/retry-failed-step`, { delay: text }),
  ],
};

/** What UTF-8 makes of it. */
function wellFormed(text: string): string {
  return Buffer.from(text).toString();
}

function cursorOf(list: string, position: string): string {
  return Buffer.from(JSON.stringify([1, list, wellFormed(position)])).toString("base64url");
}

export function texts(world: () => World): void {
  test.each(Object.entries(places))(
    "SEC-16 whatever text comes in %s, it is taken as text or refused as a mistake",
    async (_where, asks) => {
      const path = await world().made("order");
      for (const [what, text] of Object.entries(hostile)) {
        for (const answer of await Promise.all(asks(world(), text, path))) {
          const { status, body } = answer as { readonly status: number; readonly body: unknown };
          expect(status, `${what}: ${JSON.stringify(body)?.slice(0, 200)}`).toBeLessThan(500);
        }
      }
    },
  );

  test("text of every kind in params, events and reasons comes back as it was, as far as JSON can say it", async () => {
    for (const [what, text] of Object.entries(hostile)) {
      const id = world().id("text");
      const path = `${instancesOf("order")}/${id}`;
      await world().post(instancesOf("order"), { id, params: { text } });
      await world().post(`${path}/events`, { type: "noted", payload: text });
      await world().post(`${path}/terminate`, { reason: text });
      const { meta } = (await world().get(path)).body;
      const { events } = (await world().get(`${path}/history`)).body;
      expect([meta.params.text, events[0].payload], what).toEqual([text, text]);
      expect(wellFormed(meta.terminationReason.message), what).toBe(wellFormed(text));
    }
  });
}
