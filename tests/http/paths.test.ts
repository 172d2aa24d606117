/** Names in paths: decoded once, checked, and never more than one segment. */
import { allowAll, createHandler } from "everstep";
import { serve } from "everstep/node";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { sendRaw } from "./support/raw-request.ts";
import { createWatched } from "./support/watched-app.ts";

const watched = createWatched();
const seen: unknown[] = [];
const handler = createHandler(watched.app, {
  authorize: {
    request: ({ action, workflowName, instanceId, topic }) =>
      void seen.push({ action, workflowName, instanceId, topic }),
  },
});

async function ask(method: string, path: string) {
  seen.length = 0;
  const response = await handler(new Request(`http://localhost${path}`, { method }));
  const { error } = await response.json();
  return [response.status, error?.code, ...seen.map((each) => (each as { instanceId?: string }).instanceId)];
}

describe("SEC-10, R-094 an id in a path is one segment, decoded exactly once", () => {
  test.each(["%2e%2e%2fx", "%77aiting-1", "a%5Fb"])(
    "%s encodes what needs no encoding, and is refused",
    async (segment) => {
      const one = `/workflows/order/instances/${segment}`;
      for (const [method, path] of [
        ["GET", one],
        ["POST", `${one}/terminate`],
        ["POST", "/%5Frunner/tick"],
      ] as const) {
        expect((await ask(method, path)).slice(0, 2)).toEqual([400, "INVALID_ARGUMENT"]);
      }
    },
  );

  test.each([
    ["..%2fx", "../x"],
    ["a%2Fb", "a/b"],
    ["a%3Fb%23c", "a?b#c"],
    ["a%5Cb", "a\\b"],
    ["%252e%252e", "%2e%2e"],
    ["a%252Fb", "a%2Fb"],
    ["a%00b", "a\u0000b"],
    ["%F0%9F%98%80", "😀"],
    ["a+b", "a+b"],
    ["a;b=c", "a;b=c"],
    ["%20", " "],
  ])("%s is asked for as %j, and is no id", async (segment, decoded) => {
    const one = `/workflows/order/instances/${segment}`;
    expect(await ask("GET", one)).toEqual([400, "INVALID_INSTANCE_ID", decoded]);
    expect(await ask("GET", `${one}/history`)).toEqual([400, "INVALID_INSTANCE_ID", decoded]);
    expect(await ask("POST", `${one}/terminate`)).toEqual([400, "INVALID_INSTANCE_ID", decoded]);
  });

  test.each(["%", "%z", "%zz", "%c0%ae", "%c0%af", "%e0%80%af", "%ff", "%f8%80%80%80%80", "%ed%a0%80"])(
    "%s encodes nothing in UTF-8 and is refused, whoever asks",
    async (segment) => {
      expect(await ask("GET", `/workflows/order/instances/${segment}`)).toEqual([400, "INVALID_ARGUMENT"]);
      expect(await ask("GET", `/workflows/${segment}`)).toEqual([400, "INVALID_ARGUMENT"]);
      expect(await ask("POST", `/topics/${segment}`)).toEqual([400, "INVALID_ARGUMENT"]);
    },
  );

  // What URLs themselves make of dots happens before anybody sees the path; hooks see what is left.
  test.each([
    ["/workflows/order/instances/../../../counts", "counts"],
    ["/workflows/order/instances/%2e%2e/%2e%2e/%2e%2e/counts", "counts"],
    ["/workflows/order/instances/..", "getWorkflow"],
    ["/workflows/order/instances/x/%2e%2e/%2E%2E/.%2e", "listWorkflows"],
  ])("%s is asked for as %s", async (path, action) => {
    await ask("GET", path);
    expect(seen).toMatchObject([{ action }]);
  });

  test("a name that is a route's own word is a name where names are", async () => {
    for (const name of ["batch", "instances", "workflows", "topics", "_runner"]) {
      await watched.app.workflows.QUICK.create({ id: name }).catch(() => {});
      const response = await handler(new Request(`http://localhost/workflows/quick/instances/${name}`));
      expect([name, response.status, (await response.json()).id]).toEqual([name, 200, name]);
    }
  });
});

describe("SEC-10 names of what every object has are names like others", () => {
  test.each(["__proto__", "constructor", "toString", "hasOwnProperty", "prototype"])("%s", async (name) => {
    expect((await ask("GET", `/workflows/${name}`)).slice(0, 2)).toEqual([404, "WORKFLOW_NOT_FOUND"]);
    expect((await ask("GET", `/workflows/order/instances/${name}`)).slice(0, 2)).toEqual([
      404,
      "INSTANCE_NOT_FOUND",
    ]);
    expect((await ask("GET", `/counts?${name}=1`)).slice(0, 2)).toEqual([400, "INVALID_ARGUMENT"]);
    expect((await ask("GET", `/${name}`)).slice(0, 2)).toEqual([404, "ROUTE_NOT_FOUND"]);
    expect((await ask("GET", `/${name}/instances`)).slice(0, 2)).toEqual([404, "WORKFLOW_NOT_FOUND"]);
  });
});

describe("a mount path", () => {
  const at = (basePath: string) => createHandler(watched.app, { authorize: allowAll(), basePath });
  const status = async (mounted: ReturnType<typeof at>, path: string) =>
    (await mounted(new Request(`http://localhost${path}`))).status;

  test.each(["/api/workflows", "/api/workflows/", "api/workflows"])(
    "%s is taken off, if nobody has",
    async (base) => {
      const mounted = at(base);
      expect(await status(mounted, "/api/workflows/workflows")).toBe(200);
      expect(await status(mounted, "/api/workflows/workflows/order/instances")).toBe(200);
      expect(await status(mounted, "/api/workflows/order/instances")).toBe(200);
      expect(await status(mounted, "/workflows")).toBe(200);
      expect(await status(mounted, "/api/other/workflows")).toBe(404);
      expect(await status(mounted, "/api/workflows")).toBe(404);
    },
  );

  test("is part of no path that hooks see", async () => {
    const paths: string[] = [];
    const authorize = { request: ({ path }: { path: string }) => void paths.push(path) };
    const mounted = createHandler(watched.app, { authorize, basePath: "/api" });
    await mounted(new Request("http://localhost/api/order/instances/o"));
    expect(paths).toEqual(["/workflows/order/instances/o"]);
  });
});

describe("SEC-10 over a socket, where nobody tidies paths up before", () => {
  let url: string;
  let end: () => Promise<void>;
  beforeAll(async () => {
    const served = await serve(handler, { port: 0 });
    url = served.url;
    end = () => served.close();
  });
  afterAll(() => end());

  test.each([
    "/workflows/order/instances/../../../livez",
    "/workflows/order/instances/%2e%2e/x",
    "/workflows/order/instances/.%2E",
    "/workflows/order/instances/x\u0001",
    "//evil.example/workflows",
    "/workflows/order/instances/caf\u00e9",
    "*",
    "evil.example:443",
  ])("%j is refused or not found", async (target) => {
    const { status } = await sendRaw(
      url,
      `GET ${target} HTTP/1.1\r\nHost: ${new URL(url).host}\r\nConnection: close\r\n\r\n`,
    );
    expect(status).toBeGreaterThanOrEqual(400);
    expect(status).toBeLessThan(500);
  });
});
