/** Handlers that fail, and what is taken for one. */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type HandlerServer, openHandlerServer } from "../../../../tests/support/handler-server.ts";
import { toNodeHandler } from "./index.ts";

type Handler = (request: Request) => Response | Promise<Response>;

let server: HandlerServer;
let url: string;
let handle: Handler;

beforeEach(async () => {
  handle = () => Response.json({});
  server = await openHandlerServer((request) => handle(request));
  url = server.url;
});
afterEach(() => server.close());

describe("a handler that fails", () => {
  const failures: [string, Handler][] = [
    [
      "throws",
      () => {
        throw new Error("secret of the inside");
      },
    ],
    ["rejects", () => Promise.reject(new Error("secret of the inside"))],
    ["gives nothing", () => undefined as unknown as Response],
    ["gives something else", () => ({ status: 200, secret: 1 }) as unknown as Response],
    ["gives an error", () => Response.error()],
    [
      "gives a body that fails at once",
      () => new Response(new ReadableStream({ start: (c) => c.error(new Error("secret")) })),
    ],
    [
      "gives a body that was read",
      async () => {
        const used = new Response("secret");
        await used.text();
        return used;
      },
    ],
    ["gives a header that Node refuses", () => new Response("x", { headers: { "x-a": "secret\u0001" } })],
  ];

  test.each(failures)("gives a bare 500 and tells who watches: %s", async (_what, failing) => {
    handle = failing;
    const response = await fetch(url);
    expect(response.status).toBe(500);
    expect(response.headers.get("content-type")).toContain("application/json");
    const text = await response.text();
    expect(JSON.parse(text).error.code).toBe("INTERNAL_ERROR");
    expect(text).not.toContain("secret");
    expect(server.problems).toHaveLength(1);
    handle = () => new Response("fine");
    expect(await (await fetch(url)).text()).toBe("fine");
  });

  test("in the middle of its answer leaves no half that looks whole", async () => {
    let pieces = 0;
    handle = () =>
      new Response(
        new ReadableStream<Uint8Array>({
          pull: async (controller) => {
            if (++pieces > 2) throw new Error("no more");
            controller.enqueue(new TextEncoder().encode("[1,"));
            await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
          },
        }),
      );
    await expect((await fetch(url)).text()).rejects.toThrow();
    expect(server.problems).toMatchObject([{ message: "no more" }]);
  });

  test("and a watcher that fails too do no harm", async () => {
    const handler = toNodeHandler(
      () => {
        throw new Error("first");
      },
      {
        onProblem: () => {
          throw new Error("second");
        },
      },
    );
    server.answerWith(handler);
    expect((await fetch(url)).status).toBe(500);
  });
});

test("an app is used by its fetch", async () => {
  const app = { name: "mine", fetch: () => Response.json(app.name) };
  server.answerWith(toNodeHandler(app));
  expect(await (await fetch(url)).json()).toBe("mine");
});

test("what is no handler is refused at once", () => {
  for (const handler of [undefined, null, {}, 7]) {
    expect(() => toNodeHandler(handler as never)).toThrow(
      expect.objectContaining({ code: "INVALID_ARGUMENT" }),
    );
  }
});

test("a body that something else has read without leaving it is a problem, not an endless wait", async () => {
  const problems: unknown[] = [];
  const handler = toNodeHandler((request) => handle(request), {
    onProblem: (problem) => problems.push(problem),
  });
  server.answerWith(async (request, response) => {
    for await (const _ of request);
    await handler(request, response);
  });
  expect((await fetch(url, { method: "POST", body: "x" })).status).toBe(500);
  expect(problems).toMatchObject([{ message: expect.stringContaining("before the body parser") }]);
});
