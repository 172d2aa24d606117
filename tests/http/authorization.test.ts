/** Every route behind every kind of hook. The routes come from the table itself, so that none is forgotten. */
import { type Authorize, allowAll, bearerToken, refuse } from "everstep";
import { beforeEach, describe, expect, test } from "vitest";
import { requestOf, type SampleRequest, sampleRequests } from "./support/sample-requests.ts";
import { createWatched } from "./support/watched-app.ts";

type Hook = "request" | "read" | "instanceCreation" | "management" | "sendEvent" | "runnerTick";

const guarded = sampleRequests.filter(({ route }) => route.hook !== null);
const hooks = ["read", "instanceCreation", "management", "sendEvent", "runnerTick"] as const;
const token = "a-token-of-some-length";
const readToken = "another-token-for-readers";

let watched: ReturnType<typeof createWatched>;
/** A hook waits for ever, so time has to pass. */
let isHanging = false;
beforeEach(async () => {
  watched = createWatched();
  isHanging = false;
  const { app, runtime } = watched;
  await app.workflows.ORDER.create({ id: "waiting-1" });
  await app.workflows.FLAKY.create({ id: "failed-1" });
  await app.tick();
  await runtime.advance("2 minutes");
  await app.tick();
});

/** The answer, and whether the store was asked or changed on the way. */
async function asked(authorize: Authorize | undefined, sample: SampleRequest, headers = {}) {
  const [calls, contents] = [watched.calls(), watched.contents()];
  const answer = watched.behind(authorize)(requestOf(sample, headers));
  await watched.runtime.settle();
  if (isHanging) await watched.runtime.advance("6 seconds");
  const response = await answer;
  const text = await response.text();
  return {
    is: [response.status, text.startsWith("{") ? JSON.parse(text).error?.code : text]
      .filter(Boolean)
      .join(" "),
    body: text,
    headers: Object.fromEntries(response.headers),
    isUntouched: calls === watched.calls() && contents === watched.contents(),
  };
}

const refused = (is: string) => expect.objectContaining({ is, isUntouched: true });
const good = ({ route }: SampleRequest) => expect.objectContaining({ is: String(route.answer.status) });

describe("SEC-1, R-100 nobody may do what nobody was allowed to do", () => {
  test.each(sampleRequests)("$route.action without any hook", async (sample) => {
    const expected = sample.route.hook === null ? good(sample) : refused("403 AUTHORIZATION_NOT_CONFIGURED");
    expect(await asked(undefined, sample)).toEqual(expected);
    expect(await asked({}, sample)).toEqual(expected);
  });

  test("the answer says which line of code opens it", async () => {
    const { body } = await asked(undefined, guarded[0] as SampleRequest);
    expect(JSON.parse(body).error.message).toContain("authorize: bearerToken(process.env.EVERSTEP_TOKEN)");
  });

  test.each(guarded)("$route.action with hooks for everything else only", async (sample) => {
    const others = hooks.filter((hook) => hook !== sample.route.hook).map((hook) => [hook, () => {}]);
    const authorize = Object.fromEntries(others) as Authorize;
    expect(await asked(authorize, sample)).toEqual(refused("403 AUTHORIZATION_NOT_CONFIGURED"));
  });

  test("168 the tick route is off unless it is switched on, whoever asks", async () => {
    const tick = sampleRequests.find(({ route }) => route.action === "tick") as SampleRequest;
    const [calls, contents] = [watched.calls(), watched.contents()];
    for (const authorize of [undefined, allowAll(), bearerToken(token)]) {
      const response = await watched.behind(
        authorize,
        {},
      )(requestOf(tick, { authorization: `Bearer ${token}` }));
      expect([response.status, (await response.json()).error.code]).toEqual([403, "RUNNER_TICK_DISABLED"]);
    }
    expect([watched.calls(), watched.contents()]).toEqual([calls, contents]);
  });

  test.each(sampleRequests)(
    "$route.action is answered to everybody only where that is written out",
    async (sample) => {
      expect(await asked(allowAll(), sample)).toEqual(good(sample));
    },
  );
});

const denied = () => new Response("not you", { status: 418, headers: { "x-why": "because" } });

function hang(): Promise<never> {
  isHanging = true;
  return new Promise(() => {});
}

/** Ways to say no, on purpose or by accident. */
const noes: Readonly<Record<string, readonly [hook: () => unknown, is: string]>> = {
  "returns a Response": [denied, "418 not you"],
  "resolves with a Response": [async () => denied(), "418 not you"],
  "throws a Response": [
    () => {
      throw denied();
    },
    "418 not you",
  ],
  "gives an answer that nothing can be added to": [
    () => Response.redirect("http://localhost/in", 302),
    "302",
  ],
  "returns refuse(401)": [() => refuse(401, "Who are you?"), "401 UNAUTHORIZED"],
  "returns refuse(403)": [() => refuse(403, "No."), "403 FORBIDDEN"],
  "throws an error": [
    () => {
      throw new Error("secret reason");
    },
    "403 FORBIDDEN",
  ],
  "rejects with nothing": [() => Promise.reject(undefined), "403 FORBIDDEN"],
  "never answers": [hang, "403 FORBIDDEN"],
  "returns true": [() => true, "403 FORBIDDEN"],
  "returns false": [async () => false, "403 FORBIDDEN"],
  "returns null": [() => null, "403 FORBIDDEN"],
  "returns an object": [() => ({ allow: true }), "403 FORBIDDEN"],
  "returns an error Response": [() => Response.error(), "403 FORBIDDEN"],
};

describe.each(Object.entries(noes))("SEC-3, 167 a hook that %s has refused", (_how, [no, is]) => {
  test.each(guarded)("$route.action", async (sample) => {
    const request = { request: no } as Authorize;
    expect(await asked(request, sample)).toEqual(refused(is));
    const own = { request: () => {}, [sample.route.hook as Hook]: no } as Authorize;
    expect(await asked(own, sample)).toEqual(refused(is));
    expect(await asked({ [sample.route.hook as Hook]: no } as Authorize, sample)).toEqual(refused(is));
  });
});

describe("SEC-3 whoever wrote the hook hears why it counted as a refusal, and the caller does not", () => {
  test("an error in a hook", async () => {
    const request = () => Promise.reject(new Error("secret reason"));
    const { body } = await asked({ request }, guarded[0] as SampleRequest);
    expect(body).not.toContain("secret");
    expect(watched.problems).toMatchObject([{ code: "FORBIDDEN", cause: { message: "secret reason" } }]);
  });

  test("a Response that is given again and again is good every time", async () => {
    const one = denied();
    for (const sample of guarded.slice(0, 3)) {
      const { is, headers } = await asked({ request: () => one }, sample);
      expect([is, headers["x-why"], headers["cache-control"]]).toEqual([
        "418 not you",
        "because",
        "no-store",
      ]);
    }
  });

  test("hooks under names that nobody asks for are a mistake, not a refusal that never comes", () => {
    expect(() => watched.behind({ requests: () => {} } as never)).toThrow(/authorize.requests is no hook/);
    expect(() => watched.behind({ read: true } as never)).toThrow(/authorize.read is a boolean/);
    expect(() => watched.behind("all" as never)).toThrow(/authorize takes hooks/);
  });

  test("a body that a hook has read is missed, and not taken for nothing", async () => {
    const sample = guarded.find(({ route }) => route.action === "restart") as SampleRequest;
    const readers = [
      (request: Request) => request.text(),
      async ({ body }: Request) => {
        const reader = body!.getReader();
        while (!(await reader.read()).done);
        reader.releaseLock();
      },
      async ({ body }: Request) => void body!.getReader(),
    ];
    for (const read of readers) {
      const greedy: Authorize = { request: async ({ request }) => void (await read(request)) };
      expect(await asked(greedy, sample)).toEqual(refused("500 INTERNAL_ERROR"));
    }
    expect(watched.problems).toHaveLength(3);
    expect(String(watched.problems[0])).toContain("request.clone()");
    const modest: Authorize = { request: async ({ request }) => void (await request.clone().text()) };
    expect(await asked(modest, sample)).toEqual(good(sample));
  });
});

describe("SEC-2, 167 each hook decides about its own routes, after the request hook", () => {
  test.each(guarded)("$route.action asks $route.hook", async (sample) => {
    const order: string[] = [];
    const told: Record<string, unknown>[] = [];
    const note = (hook: Hook) => (context: object) => {
      order.push(hook);
      told.push(context as Record<string, unknown>);
      if (hook === "request") (context as { state: Map<string, unknown> }).state.set("who", "ann");
    };
    const all = Object.fromEntries((["request", ...hooks] as const).map((hook) => [hook, note(hook)]));
    expect(await asked(all as Authorize, sample)).toEqual(good(sample));
    expect(order.slice(0, 2)).toEqual(["request", sample.route.hook]);
    // What somebody may do is asked of the hooks that decide it, and of nobody else.
    const created = sample.route.creates ? ["instanceCreation"] : [];
    const others =
      sample.route.action === "access" ? ["instanceCreation", "management", "sendEvent"] : created;
    expect(order.slice(2)).toEqual(others);
    const named = Object.fromEntries(
      [...sample.route.path.matchAll(/:(\w+)/g)].map(([, name = ""]) => [
        name,
        {
          workflowName: sample.path.split("/")[2],
          instanceId: sample.path.split("/")[4],
          topic: "news",
          stepIndex: "0",
        }[name],
      ]),
    );
    for (const context of told) {
      expect(context).toMatchObject({
        action: sample.route.action,
        method: sample.route.method,
        path: sample.path,
        ...named,
      });
      expect(context.request).toBeInstanceOf(Request);
      expect(typeof (context.runtime as { now?: unknown }).now).toBe("function");
      expect((context.state as Map<string, unknown>).get("who")).toBe("ann");
    }
    expect(told[1]).toMatchObject(factsOf(sample));
  });

  function factsOf({ route, body }: SampleRequest): object {
    switch (route.hook) {
      case "instanceCreation":
        return { instances: (body as { instances?: unknown[] }).instances ?? [body] };
      case "sendEvent":
        return { event: body };
      case "runnerTick":
        return { maxInstances: 2 };
      case "management":
        return { body };
      default:
        return { query: {} };
    }
  }

  test("who a hook says it is stands in the reason of what they terminate, and nowhere if none says so", async () => {
    const terminate = guarded.find(({ route }) => route.action === "terminate") as SampleRequest;
    const named: Authorize = { request: () => ({ actor: "ann" }), management: () => {} };
    expect(await asked(named, terminate)).toEqual(good(terminate));
    const [ended] = (await watched.app.list({ status: "terminated" })).items;
    expect(ended?.terminationReason).toMatchObject({ source: "user", by: "ann" });
    expect((await watched.app.workflows.ORDER.at(ended?.id ?? "").why()).answer).toContain("by ann");
    const restart = guarded.find(({ route }) => route.action === "restart") as SampleRequest;
    const unclear = { request: () => ({ user: "ann" }) } as never as Authorize;
    expect(await asked(unclear, restart)).toEqual(refused("403 FORBIDDEN"));
  });

  test("who a hook says it is stands in the log of what they steer", async () => {
    const named: Authorize = { request: () => ({ actor: "ann" }), management: () => {} };
    const steer = async (instance: string, verb: string, body = "{}") => {
      const url = `http://localhost/workflows/${instance}/${verb}`;
      const headers = { "content-type": "application/json" };
      const answer = await watched.behind(named)(new Request(url, { method: "POST", headers, body }));
      expect([verb, answer.status]).toEqual([verb, 200]);
    };
    const said = async (workflow: "ORDER" | "FLAKY", id: string, runNumber: number) => {
      const { items } = await watched.app.workflows[workflow]
        .at(id)
        .logs({ category: "operator", runNumber });
      return items.map(({ message, data }) => [message, data]);
    };
    for (const verb of ["pause", "resume", "resume"]) await steer("order/instances/waiting-1", verb);
    await steer("order/instances/waiting-1", "restart");
    await steer("order/instances/waiting-1", "restart-or-create");
    await steer("order/instances/waiting-1", "terminate");
    await steer("flaky/instances/failed-1", "retry-failed-step");
    expect(await said("ORDER", "waiting-1", 1)).toEqual([
      ["Paused by ann.", { action: "pause", actor: "ann" }],
      ["Resumed by ann.", { action: "resume", actor: "ann" }],
    ]);
    expect(await said("ORDER", "waiting-1", 2)).toMatchObject([["Restarted by ann.", {}]]);
    expect(await said("ORDER", "waiting-1", 3)).toMatchObject([
      ["Restarted by ann.", {}],
      ["Terminated by ann.", {}],
    ]);
    expect(await said("FLAKY", "failed-1", 1)).toEqual([
      ["Retried by ann.", { action: "retryFailedStep", actor: "ann" }],
    ]);
    // What is only asked says nothing of who asks.
    expect((await watched.app.workflows.FLAKY.at("failed-1").why()).warnings ?? []).toEqual([]);
  });

  test("a hook that is only asked whether it would allow leaves nothing for the others", async () => {
    const authorize: Authorize = {
      request: () => ({ actor: "ann" }),
      instanceCreation: ({ state }) => {
        state.set("mayWrite", true);
        return { actor: "somebody else" };
      },
      management: ({ state }) =>
        state.get("mayWrite") || state.get("actor") !== "ann" ? refuse(403, "No.") : undefined,
    };
    const answer = await watched.behind(authorize)(new Request("http://localhost/access"));
    expect(await answer.json()).toMatchObject({ instanceCreation: true, management: true });
  });

  test("what was asked for is told as it was understood", async () => {
    const told: unknown[] = [];
    const read = ({ query }: { query: unknown }) => void told.push(query);
    const handler = watched.behind({ read });
    await handler(new Request("http://localhost/workflows/order/instances?status=active,paused&pageSize=5"));
    expect(told).toEqual([{ status: ["active", "paused"], pageSize: 5 }]);
  });

  test("a hook that refuses keeps nobody from what other hooks allow", async () => {
    for (const hook of hooks) {
      const all = Object.fromEntries(
        hooks.map((each) => [each, each === hook ? denied : () => {}]),
      ) as Authorize;
      for (const sample of guarded.filter(({ route }) => route.hook !== hook && route.method === "GET"))
        expect(await asked(all, sample), `${hook} ${sample.route.action}`).toEqual(good(sample));
    }
  });
});

describe("SEC-2, SEC-34 what is forbidden looks like what is not there", () => {
  const onInstances = guarded.filter(({ route }) => route.path.includes(":workflowName"));
  const elsewhere = [
    (path: string) => path.replace("waiting-1", "nobody").replace("failed-1", "nobody"),
    (path: string) => path.replace("/order", "/unknown").replace("/flaky", "/unknown"),
  ];

  test.each(onInstances)("$route.action", async (sample) => {
    const hook = sample.route.hook as Hook;
    for (const authorize of [
      { request: () => refuse(403, "No.") },
      { [hook]: () => refuse(403, "No.") },
      bearerToken(token),
    ]) {
      const there = await asked(authorize as Authorize, sample);
      for (const move of elsewhere) {
        const gone = await asked(authorize as Authorize, { ...sample, path: move(sample.path) });
        expect(gone).toEqual(there);
      }
      expect(there.isUntouched).toBe(true);
    }
  });
});

describe("SEC-14, R-095 tokens", () => {
  const authorize = bearerToken({ tokens: [token], readOnlyTokens: readToken });

  test.each(guarded)("$route.action by who has a token, a reader's token, or none", async (sample) => {
    const by = (authorization?: string) =>
      asked(authorize, sample, authorization === undefined ? {} : { authorization });
    expect(await by()).toEqual(refused("401 UNAUTHORIZED"));
    expect(await by(`Bearer ${token}x`)).toEqual(refused("401 UNAUTHORIZED"));
    const readers = sample.route.hook === "read" ? good(sample) : refused("403 FORBIDDEN");
    expect(await by(`Bearer ${readToken}`)).toEqual(readers);
    expect(await by(`Bearer ${token}`)).toEqual(good(sample));
  });
});

describe("SEC-2 what an answer shows, and what it creates, is decided by the hooks that guard that", () => {
  const post = (handler: (request: Request) => Promise<Response>, path: string, body: object) =>
    handler(
      new Request(`http://localhost${path}`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(body),
      }),
    );
  const instances = "/workflows/quick/instances";

  async function ended() {
    const own = createWatched();
    await own.app.workflows.QUICK.create({ id: "q", params: "secret" });
    await own.app.workflows.SLEEPER.create({ id: "s" });
    await own.app.workflows.QUICK.at("q").sendEvent({ type: "ok", idempotencyKey: "e" });
    await own.app.tick();
    return own;
  }

  const asks = [
    [instances, { id: "q", ifExists: "return" }],
    [`${instances}/q/events`, { type: "ok", idempotencyKey: "e" }],
    [`${instances}/q/restart-or-create`, { when: { statuses: ["waiting"] } }],
  ] as const;

  test.each(asks)("%s shows what it ended with only to those who may read it", async (path, body) => {
    const { behind } = await ended();
    const allowed = () => {};
    const mayAll = { instanceCreation: allowed, management: allowed, sendEvent: allowed };
    const isPost: Authorize["request"] = ({ method }) => {
      if (method === "GET") throw refuse(403, "Nobody reads.");
    };
    const closed: Authorize[] = [
      mayAll,
      { ...mayAll, request: allowed, read: () => refuse(403, "Nobody reads.") },
      {
        ...mayAll,
        request: allowed,
        read: ({ instanceId }) => (instanceId === "q" ? refuse(403, "No.") : undefined),
      },
      { request: isPost },
    ];
    for (const authorize of closed) {
      const answer = await post(behind(authorize), path, body);
      const text = await answer.text();
      expect([answer.status, text.includes('"status":"complete"'), text.includes("secret")]).toEqual([
        200,
        true,
        false,
      ]);
    }
    for (const authorize of [{ request: allowed }, { ...mayAll, read: allowed }]) {
      expect(await (await post(behind(authorize), path, body)).text()).toContain("secret");
    }
  });

  test("fork and restart-or-create need to be allowed to create, and are told of by what they would", async () => {
    const { behind, contents } = await ended();
    const told: unknown[] = [];
    const before = contents();
    const asked = [
      [`${instances}/q/fork`, { newId: "copy" }, { id: "copy" }],
      [`${instances}/new/restart-or-create`, { params: 1 }, { id: "new", params: 1 }],
    ] as const;
    for (const [path, body, created] of asked) {
      const noCreation = {
        request: () => {},
        instanceCreation: ({ instances }: { readonly instances: readonly unknown[] }) => {
          told.push(...instances);
          return refuse(403, "Nobody creates.");
        },
      };
      expect((await post(behind(noCreation), path, body)).status).toBe(403);
      expect(told.pop()).toEqual(created);
      const alone = await post(behind({ management: () => {} }), path, body);
      expect((await alone.json()).error.code).toBe("AUTHORIZATION_NOT_CONFIGURED");
      expect(contents()).toBe(before);
    }
    for (const [path, body] of asked) {
      expect((await post(behind({ request: () => {} }), path, body)).ok).toBe(true);
    }
  });
});
