/** Killing the process over HTTP: for developers who want to see that nothing is lost, and for nobody else. */
import { type Authorize, allowAll, bearerToken } from "everstep";
import { describe, expect, test } from "vitest";
import { createWatched } from "./support/watched-app.ts";

const [token, readToken] = ["a-token-of-some-length", "another-token-for-readers"];
const tokens = bearerToken({ tokens: token, readOnlyTokens: readToken });

function begin(authorize: Authorize | undefined, isOffered: boolean) {
  let kills = 0;
  const handler = createWatched().behind(authorize, isOffered ? { onKill: () => (kills += 1) } : {});
  return {
    kills: () => kills,
    async ask(method: string, path: string, bearer = "") {
      const headers = { authorization: `Bearer ${bearer}` };
      const response = await handler(new Request(`http://localhost${path}`, { method, headers }));
      return { status: response.status, body: await response.json() };
    },
  };
}

test("there is no such route unless the host offers it, whoever asks and by whatever method", async () => {
  for (const authorize of [undefined, allowAll(), tokens]) {
    const { ask } = begin(authorize, false);
    for (const method of ["POST", "GET", "PUT", "OPTIONS"])
      expect(await ask(method, "/_dev/kill", token), method).toMatchObject({
        status: 404,
        body: { error: { code: "ROUTE_NOT_FOUND" } },
      });
  }
  expect((await begin(allowAll(), false).ask("GET", "/overview")).body.mayKill).toBe(false);
});

test("where it is offered, whoever manages may kill, and is answered before", async () => {
  const { ask, kills } = begin(tokens, true);
  expect((await ask("GET", "/overview", readToken)).body.mayKill).toBe(true);
  expect(kills()).toBe(0);
  expect(await ask("POST", "/_dev/kill", token)).toEqual({ status: 200, body: { ok: true } });
  expect(kills()).toBe(1);
});

test.each([
  ["nobody was allowed to", undefined, "", 403],
  ["there is no token", tokens, "", 401],
  ["the token is for readers", tokens, readToken, 403],
])("%s: refused, and nobody is killed", async (_why, authorize, bearer, status) => {
  const { ask, kills } = begin(authorize, true);
  expect((await ask("POST", "/_dev/kill", bearer)).status).toBe(status);
  expect(kills()).toBe(0);
});

describe("what somebody may do", () => {
  const now = expect.stringMatching(/^\d{4}-.*Z$/);
  const all = { instanceCreation: true, management: true, sendEvent: true, now };
  const none = { instanceCreation: false, management: false, sendEvent: false, now };

  test("everything with a token, and nothing but looking with one for readers", async () => {
    const { ask } = begin(tokens, false);
    expect((await ask("GET", "/access", token)).body).toEqual(all);
    expect((await ask("GET", "/access?workflowName=order", readToken)).body).toEqual(none);
  });

  test("is known before anything else is asked for: who may not read is not told", async () => {
    expect((await begin(tokens, false).ask("GET", "/access")).status).toBe(401);
    expect((await begin(undefined, false).ask("GET", "/access")).status).toBe(403);
  });

  test("where only some hooks are there, the rest is closed", async () => {
    const { ask } = begin({ read: () => {}, sendEvent: () => {} }, false);
    expect((await ask("GET", "/access")).body).toEqual({ ...none, sendEvent: true });
  });

  test("is what the hooks say of the workflow, however they say no; and nobody is bothered with it", async () => {
    const no = (): never => {
      throw new Error("no");
    };
    const told: unknown[] = [];
    const watched = createWatched();
    const handler = watched.behind({
      request: () => {},
      instanceCreation: ({ action, workflowName, instances }) =>
        void told.push({ action, workflowName, instances }),
      management: ({ workflowName }) => (workflowName === "order" ? undefined : no()),
      sendEvent: () => new Response(null, { status: 418 }),
    });
    const ask = async (path: string) => (await handler(new Request(`http://localhost${path}`))).json();
    expect(await ask("/access?workflowName=order")).toEqual({ ...all, sendEvent: false });
    expect(await ask("/access?workflowName=quick")).toEqual({ ...none, instanceCreation: true });
    expect(told[0]).toEqual({ action: "access", workflowName: "order", instances: [{}] });
    expect(watched.problems).toEqual([]);
  });
});
