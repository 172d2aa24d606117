/** What every answer says about itself. */
import { allowAll, createHandler } from "everstep";
import { serve } from "everstep/node";
import { describe, expect, test } from "vitest";
import { commonHeaders } from "./support/checked-answer.ts";
import { sendRaw } from "./support/raw-request.ts";
import { everyRoute, requestOf, sampleRequests } from "./support/sample-requests.ts";
import { createWatched } from "./support/watched-app.ts";

async function begin() {
  const watched = createWatched();
  await watched.app.workflows.ORDER.create({ id: "waiting-1" });
  await watched.app.workflows.FLAKY.create({ id: "failed-1" });
  await watched.app.tick();
  await watched.runtime.advance("2 minutes");
  await watched.app.tick();
  return { ...watched, handler: createHandler(watched.app, { authorize: allowAll(), ...everyRoute }) };
}

describe("SEC-27 no answer is kept, framed, sniffed or told on", () => {
  test.each(sampleRequests)("$route.action", async (sample) => {
    const { handler, app } = await begin();
    const answers = {
      good: await handler(requestOf(sample)),
      head: await handler(new Request(`http://localhost${sample.path}`, { method: "HEAD" })),
      options: await handler(new Request(`http://localhost${sample.path}`, { method: "OPTIONS" })),
      refused: await createHandler(app, everyRoute)(requestOf(sample)),
      mistaken: await handler(new Request(`http://localhost${sample.path}?x=1`, requestOf(sample))),
      other: await handler(new Request(`http://localhost${sample.path}`, { method: "DELETE" })),
    };
    for (const [what, { status, headers }] of Object.entries(answers)) {
      const { etag, location, ...all } = Object.fromEntries(headers);
      const type = status === 204 ? {} : { "content-type": "application/json; charset=utf-8" };
      const allow = status === 204 || status === 405 ? { allow: expect.any(String) } : {};
      expect(all, what).toEqual({ ...commonHeaders, ...type, ...allow });
      if (etag !== undefined) expect(etag).toMatch(/^W\/"[\w-]+"$/);
    }
    expect(answers.good.status).toBe(sample.route.answer.status);
  });

  test("a stream", async () => {
    const { handler } = await begin();
    for (const sample of sampleRequests.filter(({ route }) => route.stream)) {
      const response = await handler(requestOf(sample, { accept: "text/event-stream" }));
      expect(Object.fromEntries(response.headers), sample.route.action).toEqual({
        ...commonHeaders,
        "content-type": "text/event-stream; charset=utf-8",
        "x-accel-buffering": "no",
      });
      await response.body?.cancel();
    }
  });

  test("a path where nothing is", async () => {
    const { handler } = await begin();
    const { headers } = await handler(new Request("http://localhost/nothing"));
    expect(Object.fromEntries(headers)).toEqual({
      ...commonHeaders,
      "content-type": "application/json; charset=utf-8",
    });
  });
});

describe("SEC-9 what callers write ends up in no header", () => {
  const odd = [
    "a\r\nx-evil: 1",
    "a\nb",
    "a%0d%0aset-cookie: x=1",
    "é",
    "\u0000",
    "\u2028",
    '"',
    "x".repeat(10_000),
  ];

  test("whatever is asked for, headers are those that every answer has", async () => {
    const { handler } = await begin();
    const names = new Set([
      ...Object.keys(commonHeaders),
      "content-type",
      "etag",
      "location",
      "allow",
      "retry-after",
    ]);
    for (const text of odd) {
      const segment = encodeURIComponent(text);
      const body = JSON.stringify({ id: text, newId: text, type: text, from: text, reason: text });
      for (const path of [
        `/${segment}`,
        `/workflows/${segment}`,
        `/order/instances/${segment}`,
        `/instances?status=${segment}`,
      ]) {
        const { headers } = await handler(new Request(`http://localhost${path}`));
        for (const [name] of headers) expect(names, `${path} ${name}`).toContain(name);
      }
      for (const path of ["/order/instances", "/order/instances/waiting-1/fork", `/topics/${segment}`]) {
        const init = { method: "POST", body, headers: { "content-type": "application/json" } };
        const { headers } = await handler(new Request(`http://localhost${path}`, init));
        for (const [name] of headers) expect(names, `${path} ${name}`).toContain(name);
      }
    }
  });

  test("a Location is made of an id that was checked, and leads to the instance", async () => {
    const { handler } = await begin();
    const [create] = sampleRequests.filter(({ route }) => route.action === "createInstance");
    expect((await handler(requestOf(create!))).headers.get("location")).toBe("instances/fresh");
  });

  test("an origin that is allowed is answered as it was configured, not as it was sent", async () => {
    const { app } = await begin();
    const handler = createHandler(app, { authorize: allowAll(), cors: { origins: ["https://a.example"] } });
    for (const origin of [
      "https://a.example\u00e9",
      "https://A.example",
      "https://a.example, https://b.example",
    ]) {
      const request = new Request("http://localhost/workflows", { headers: { origin } });
      expect((await handler(request)).headers.get("access-control-allow-origin")).toBeNull();
    }
  });

  test("over a socket: headers with line ends or NUL in them are no headers", async () => {
    const { app } = await begin();
    const { url, close } = await serve(app, { port: 0 });
    const host = `Host: ${new URL(url).host}\r\n`;
    for (const line of [
      "x: a\rb: c",
      "x: a\u0000b",
      "x y: z",
      ": z",
      "x: a\r\n folded",
      `idempotency-key: ${"k".repeat(70_000)}`,
    ]) {
      const { status } = await sendRaw(
        url,
        `GET /livez HTTP/1.1\r\n${host}${line}\r\nConnection: close\r\n\r\n`,
      );
      expect([400, 431], JSON.stringify(line).slice(0, 40)).toContain(status);
    }
    await close();
  });
});
