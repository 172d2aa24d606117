/** What http.md says is answered is what is answered: its commands are run, in their order, against a server of its app. */
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { promisify } from "node:util";
import { bearerToken, createHandler } from "everstep";
import { serve } from "everstep/node";
import { createTestHarness } from "everstep/testing";
import { describe, expect, test } from "vitest";
import { delivery, order } from "../examples/http/shop.ts";
import { jsonView } from "../packages/everstep/src/http/json-view.ts";
import { routes } from "../packages/everstep/src/http/routes/index.ts";
import { ask, type CurlCommand, eventsOf, readCurl } from "./support/curl.ts";
import { type AnswerKind, eventCount, expectShown } from "./support/shown-answer.ts";

const run = promisify(execFile);
const page = readFileSync("docs/http.md", "utf8");
const token = "a-token-for-the-documentation";

interface Example {
  readonly heading: string;
  readonly block: string;
  readonly answer: { readonly kind: AnswerKind; readonly shown: string } | null;
}

/** Blocks that call curl, each with the answer that follows it. */
const examples = page.split(/^(?=#{2,3} )/m).flatMap((section): Example[] => {
  const heading = /^#+ (.+)$/m.exec(section)?.[1] ?? "";
  const block =
    /^```sh\n((?:(?!^```)[\s\S])*?\bcurl[\s\S]*?)^```$(?:\n\n^```(json|http|text)\n([\s\S]*?)^```$)?/gm;
  return [...section.matchAll(block)].map(([, command = "", kind, shown = ""]) => ({
    heading,
    block: command.trimEnd(),
    answer: kind === undefined ? null : { kind: kind as AnswerKind, shown: shown.trimEnd() },
  }));
});

type Print = (block: string, variables: Record<string, string>, eventsMax: number) => Promise<string>;

/** The answer of the last command; those before it must go well. */
const withFetch: Print = async (block, variables, eventsMax) => {
  const commands = readCurl(block, variables);
  for (const command of commands.slice(0, -1))
    expect((await fetch(command.url, initOf(command))).ok).toBe(true);
  return ask(commands.at(-1) as CurlCommand, eventsMax);
};

function initOf({ method, headers, body }: CurlCommand): RequestInit {
  return { method, headers: headers.map(([name, value]) => [name, value]), ...(body ? { body } : {}) };
}

const withCurl: Print = async (block, variables, eventsMax) => {
  const commands = block.split(/^(?=curl )/m);
  const env = { ...process.env, ...variables };
  const shell = (script: string): string[] => ["-c", script.replaceAll("curl ", "curl -sS ")];
  for (const command of commands.slice(0, -1)) await run("sh", shell(command), { env });
  const last = commands.at(-1) ?? "";
  if (eventsMax === 0) return (await run("sh", shell(last), { env })).stdout;
  const stream = spawn("sh", shell(`exec ${last}`), { env, stdio: ["ignore", "pipe", "inherit"] });
  let seen = "";
  for await (const data of stream.stdout) {
    seen += data;
    if (eventsOf(seen).length >= eventsMax) break;
  }
  const ended = stream.exitCode === null && stream.signalCode === null ? once(stream, "exit") : null;
  stream.kill();
  await ended;
  return seen;
};

const hasCurl = await run("curl", ["--version"]).then(
  ({ stdout }) => /^curl (?:7\.(?:8[2-9]|9)|[89]|\d\d)/.test(stdout),
  () => false,
);

describe.each([
  ["fetch", withFetch],
  ["curl", withCurl],
] as const)("asked with %s", (name, print) => {
  test.skipIf(name === "curl" && !hasCurl)("every answer is the one on the page", async () => {
    const harness = createTestHarness({
      workflows: { ORDER: order, DELIVERY: delivery },
      now: new Date("2026-03-01T09:00:00Z"),
    });
    const handler = createHandler(harness.app, {
      authorize: bearerToken(token),
      tick: true,
      onKill: () => {},
    });
    const server = await serve(handler, { port: 0 });
    const variables = { api: server.url.slice(0, -1), auth: `authorization: Bearer ${token}` };
    try {
      for (const { block, answer } of examples) {
        const printed = await print(block, variables, answer?.kind === "text" ? eventCount(answer.shown) : 0);
        try {
          if (answer) expectShown(answer.kind, answer.shown, printed);
        } catch (problem) {
          throw Object.assign(problem as Error, { message: `${block}\n${(problem as Error).message}` });
        }
        // Between two commands the instances get on.
        await harness.advance("1 second");
      }
    } finally {
      await server.close();
      await harness.stop();
    }
    expect(examples.length).toBeGreaterThan(routes.length);
  });
});

describe("routes", () => {
  const sections = new Map(
    page
      .split(/^(?=#{2,3} )/m)
      .map((section) => [/^### ((?:GET|POST|DELETE) .+)$/m.exec(section)?.[1], section] as const)
      .filter(([heading]) => heading !== undefined),
  );
  const nameOf = ({ method, path }: { method: string; path: string }): string => `${method} ${path}`;
  const cases = routes.map((route) => ({ ...route, name: nameOf(route) }));

  test("each has its section, and nothing else has", () => {
    expect([...sections.keys()].sort()).toEqual(routes.map(nameOf).sort());
  });

  test("the table names each with its action and its hook", () => {
    const rows = [...page.matchAll(/^\| `((?:GET|POST|DELETE) .+?)` \| `(\w+)` \| (?:`(\w+)`|none) \|$/gm)];
    expect(rows.map(([, name, action, hook]) => [name, action, hook ?? null]).sort()).toEqual(
      routes.map((route) => [nameOf(route), route.action, route.hook]).sort(),
    );
  });

  test.each(cases)("$name has an example that asks it, and shows the answer", ({ name, method, path }) => {
    const variables = { api: "http://api", auth: "authorization: x" };
    const pattern = new RegExp(`^${path.replace(/:\w+/g, "[^/]+")}$`);
    const asked = examples
      .filter(({ heading, answer }) => heading === name && answer !== null)
      .flatMap(({ block }) => readCurl(block, variables));
    const fitting = asked.filter(
      (command) => command.method === method && pattern.test(new URL(command.url).pathname),
    );
    expect(fitting.length).toBeGreaterThan(0);
  });

  test.each(cases)(
    "$name names what it takes, and which codes it has",
    ({ name, query, body, codes, path, hook }) => {
      const section = sections.get(name) ?? "";
      const properties = (body?.json as { properties?: object } | undefined)?.properties ?? {};
      // Those that every instance has are said once for all.
      const own = codes.filter((code) => !(path.includes(":instanceId") && said.includes(code)));
      for (const word of [...Object.keys(query), ...Object.keys(properties), ...own]) {
        expect(section, word).toMatch(new RegExp(`[\`"]${word}[\`"]`));
      }
      if (hook === null) expect(section).toContain("For everybody");
    },
  );

  const said = ["WORKFLOW_NOT_FOUND", "INSTANCE_NOT_FOUND", "INVALID_INSTANCE_ID"];

  test("what every instance may answer is said", () => {
    const [sentence = ""] = /^Routes below an instance answer [\s\S]*?\./m.exec(page) ?? [];
    expect(said.filter((code) => !sentence.includes(`\`${code}\``))).toEqual([]);
  });
});

describe("tables", () => {
  test("values that are more than JSON are shown as it says", () => {
    const table = page.slice(page.indexOf("### Values that are more"), page.indexOf("## Routes"));
    const rows = [...table.matchAll(/^\| `(.+?)` \| `(.+?)` \|$/gm)];
    const evaluate = (code: string): unknown => new Function(`return (${code})`)();
    expect(rows.map(([, value = ""]) => jsonView(evaluate(value)))).toEqual(
      rows.map(([, , shown = ""]) => JSON.parse(shown)),
    );
    expect(rows.length).toBeGreaterThan(9);
  });

  test("every reason of why is explained, and no other", () => {
    const source = readFileSync("packages/everstep/src/handles/views.ts", "utf8");
    const [type = ""] = /export type WhyReason =[^;]+;/.exec(source) ?? [];
    const reasons = [...type.matchAll(/"([\w-]+)"/g)].map(([, reason]) => reason);
    const table = /^\| `reason` \|[\s\S]*?\n\n/m.exec(page)?.[0] ?? "";
    const named = [...table.matchAll(/^\| (`.+?`) \|/gm)]
      .flatMap(([, names = ""]) => [...names.matchAll(/`([\w-]+)`/g)])
      .map(([, reason]) => reason);
    expect(named.filter((reason) => reason !== "reason").sort()).toEqual(reasons.sort());
  });
});

describe("limits", () => {
  const post = async (
    path: string,
    body: string,
  ): Promise<{ error: { code: string; details?: unknown } }> => {
    const harness = createTestHarness({ workflows: { ORDER: order } });
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
    const request = new Request(`http://api${path}`, { method: "POST", headers, body });
    const response = await createHandler(harness.app, { authorize: bearerToken(token) })(request);
    await harness.stop();
    return response.json() as Promise<{ error: { code: string; details?: unknown } }>;
  };

  test.each([
    ["1 MiB and 64 KiB", "/workflows/order/instances", 1024 * 1024 + 64 * 1024],
    ["16 MiB", "/workflows/order/instances/batch", 16 * 1024 * 1024],
  ])("a body has at most %s", async (said, path, maxBytes) => {
    expect(page).toContain(said);
    const { error } = await post(path, `"${"x".repeat(maxBytes)}"`);
    expect(error).toMatchObject({ code: "BODY_TOO_LARGE", details: { maxBytes } });
  });

  test("and is nested at most as deep as it says", async () => {
    const depth = Number(/^\| depth of JSON \| (\d+) \|$/m.exec(page)?.[1]);
    const nested = (levels: number): string => `${"[".repeat(levels)}${"]".repeat(levels)}`;
    expect((await post("/workflows/order/instances", nested(depth))).error.code).toBe("INVALID_ARGUMENT");
    expect((await post("/workflows/order/instances", nested(depth + 1))).error.code).toBe("INVALID_BODY");
  });
});
