/** What the command line owes to whoever types secrets into it and reads what servers send. */
import { execFileSync, spawnSync } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { parseHeader } from "../../packages/everstep/src/cli/connection/header.ts";
import { UsageError } from "../../packages/everstep/src/cli/problems.ts";
import { ScriptedServer } from "../support/scripted-server.ts";
import { emptyFolder, everstep } from "./support/everstep.ts";
import { inTerminal } from "./support/terminal.ts";

let server: ScriptedServer;
beforeEach(async () => {
  server = await ScriptedServer.open("/api/workflows");
});
afterEach(() => server.close());

const none = { json: { workflows: [] } };
const canary = "canary-7f3a9c51e2";

describe("SEC-9: headers", () => {
  test.each(["X-A: b\r\nX-Forged: c", "X-A: b\nX-Forged: c", "X-A: b\rX-Forged: c", ": value", "X A: b"])(
    "SEC-9: -H %j is refused before anything is sent",
    async (header) => {
      const ran = await everstep(["workflows", "list", "--url", server.url, "-H", header]);
      expect(ran).toMatchObject({ code: 64, out: "" });
      expect(server.requests).toEqual([]);
    },
  );

  test("SEC-9: whatever is typed as a header, it is refused, or it is one header that can be sent", () => {
    const part = fc.string({
      unit: fc.oneof(fc.constantFrom(":", "\r", "\n", "\0", " ", "\t", "é"), fc.string()),
    });
    fc.assert(
      fc.property(part, (text) => {
        let header: { readonly name: string; readonly value: string };
        try {
          header = parseHeader(text, "The header");
        } catch (error) {
          expect(error).toBeInstanceOf(UsageError);
          return;
        }
        const sent = [...new Headers([[header.name, header.value]])];
        expect(sent).toEqual([[header.name.toLowerCase(), header.value]]);
      }),
      { numRuns: 2000 },
    );
  });

  test("SEC-9: headers arrive as they were typed, all of them", async () => {
    server.script(none);
    await everstep([
      "workflows",
      "list",
      "--url",
      server.url,
      "-H",
      "X-A: 1",
      "--header=X-B: two, 2",
      "-HX-A: 3",
    ]);
    expect(server.requests[0]?.headers).toMatchObject({ "x-a": "1, 3", "x-b": "two, 2" });
  });
});

describe("SEC-10, R-094: ids in paths", () => {
  const ids = ["../x", "..", "%2e%2e", "..%2f", "a/b", "a?b#c", "a\\b", "%252e%252e%252fx", "ü"];

  test.each([
    ...ids.map((id) => ["instances get", id] as const),
    ...["../x", "..%2f"].map((id) => ["instances terminate", id] as const),
  ])(
    "R-094: everstep %s with the id %j asks for one segment under the workflow, or for nothing",
    async (command, id) => {
      const problem = { error: { code: "INSTANCE_NOT_FOUND", message: "There is none.", docs: "" } };
      const answer = { status: 404, json: problem };
      server.script(answer, answer, answer);
      const ran = await everstep([
        ...command.split(" "),
        "--url",
        server.url,
        "--workflow",
        "order",
        `--id=${id}`,
      ]);
      expect(ran.code).toBe(70);
      for (const { url } of server.requests) {
        const path = new URL(url, "http://x").pathname;
        expect(path).toBe(url.split("?")[0]);
        const [, under, id1] =
          /^\/api\/workflows\/workflows\/order\/instances\/([^/]+)(\/[\w-]+)?$/.exec(path) ?? [];
        expect(decodeURIComponent(`${under}`)).toBe(id);
        expect(id1 ?? "/terminate").toMatch(/^\/(why|history|terminate)$/);
      }
    },
  );

  test("R-094: names of workflows and topics are one segment too", async () => {
    const workflow = await everstep(["instances", "list", "../../admin", "--url", server.url]);
    const topic = await everstep(["emit", "../instances", "--url", server.url]);
    expect([workflow.code, topic.code]).toEqual([70, 70]);
    expect(server.requests).toEqual([]);
  });
});

describe("SEC-15: secrets", () => {
  const secret = {
    status: 401,
    json: { error: { code: "UNAUTHORIZED", message: `Not ${canary}!`, docs: "" } },
  };

  test("SEC-15: a token from the environment is sent and never shown, whatever the server says", async () => {
    server.script(secret);
    const ran = await everstep(["workflows", "list", "--url", server.url], {
      env: { EVERSTEP_TOKEN: canary },
    });
    expect(server.requests[0]?.headers.authorization).toBe(`Bearer ${canary}`);
    expect(ran.code).toBe(70);
    expect(ran.err).toContain("Not [hidden]!");
    expect(ran.out + ran.err).not.toContain(canary);
  });

  test("SEC-15: a header from a config file is sent and never shown", async () => {
    const cwd = emptyFolder();
    writeFileSync(
      join(cwd, "everstep.config.json"),
      JSON.stringify({ url: server.url, headers: { "X-Api-Key": canary } }),
      { mode: 0o600 },
    );
    server.script(secret);
    const ran = await everstep(["workflows", "list"], { cwd });
    expect(server.requests[0]?.headers["x-api-key"]).toBe(canary);
    expect(ran.out + ran.err).not.toContain(canary);
  });

  test.each([
    ["no answer", "drop" as const],
    ["an answer that is no JSON", { text: "<html>" }],
    ["a failure", { status: 500, json: { error: { code: "INTERNAL_ERROR", message: "Oh.", docs: "" } } }],
    ["success", none],
  ])("SEC-15: nothing that was sent is shown after %s", async (_, answer) => {
    server.script(answer);
    const words = [
      "workflows",
      "list",
      "--url",
      server.url,
      "--retries",
      "0",
      "-H",
      `Cookie: session=${canary}`,
    ];
    const ran = await everstep(words, { env: { EVERSTEP_TOKEN: `${canary}-token` } });
    expect(server.requests[0]?.headers.cookie).toBe(`session=${canary}`);
    expect(ran.out + ran.err).not.toContain(canary);
  });

  test("SEC-15: what is typed wrongly is not repeated where it may be a secret", async () => {
    const header = await everstep([
      "workflows",
      "list",
      "--url",
      server.url,
      "-H",
      `Authorization ${canary}`,
    ]);
    const url = await everstep(["workflows", "list", "--url", `https://ann:${canary}@host/`]);
    const token = await everstep(["workflows", "list", "--url", server.url], {
      env: { EVERSTEP_TOKEN: `${canary}\nX-B: c` },
    });
    for (const ran of [header, url, token]) {
      expect(ran.code).toBe(64);
      expect(ran.out + ran.err).not.toContain(canary);
    }
  });
});

describe("SEC-24: text from servers", () => {
  const evil = "\u001b]0;owned\u0007\u001b[2J\r\u009b31m\u202egnp.\u2028\n$ rm -rf ~";
  const instance = {
    id: `id${evil}`,
    details: { status: `errored${evil}`, error: { name: `E${evil}`, message: evil } },
    meta: {
      workflowName: `order${evil}`,
      runNumber: 1,
      params: { [evil]: evil },
      createdAt: "2026-01-31T12:00:00.000Z",
      updatedAt: `2026${evil}`,
      startedAt: null,
      completedAt: null,
      dueAt: null,
      deadlineAt: null,
      retentionUntil: null,
      parent: { workflowName: evil, instanceId: evil },
      terminationReason: { source: evil, message: evil },
      executing: false,
      queued: false,
      deadLetter: true,
    },
  };
  const step = {
    stepKey: `step${evil}`,
    name: evil,
    index: 0,
    type: "do",
    status: "errored",
    attempts: 1,
    maxAttempts: 1,
    errors: [],
    error: { name: evil, message: evil },
    parentKey: null,
    depth: 0,
    nextRetryAt: null,
    createdAt: "2026-01-31T12:00:00.000Z",
    settledAt: "2026-01-31T12:00:01.000Z",
  };
  const log = {
    id: "1-1",
    runNumber: 1,
    stepKey: evil,
    attempt: 2,
    level: `warn${evil}`,
    category: evil,
    message: evil,
    data: evil,
    isReplay: false,
    createdAt: `2026-01-31T12:00:00.000Z${evil}`,
  };
  const event = {
    id: evil,
    type: evil,
    topic: null,
    payload: evil,
    createdAt: step.createdAt,
    consumedByStepKey: evil,
  };
  const history = {
    runNumber: 1,
    steps: [step],
    events: [event],
    logs: [log],
    stepsHasNextPage: false,
    eventsHasNextPage: false,
  };
  const list = { instances: [instance], cursor: evil, hasNextPage: true };
  const problem = { status: 400, json: { error: { code: "INVALID_ARGUMENT", message: evil, docs: "" } } };
  const waiter = {
    workflowName: evil,
    instanceId: evil,
    runNumber: 1,
    stepKey: evil,
    topic: evil,
    deadlineAt: evil,
  };

  const cases: readonly [string, readonly object[]][] = [
    ["instances list", [{ json: list }]],
    ["instances list --full", [{ json: list }]],
    ["dead-letters", [{ json: list }]],
    ["instances history order o-1 --include-logs", [{ json: history }]],
    ["instances logs order o-1", [{ json: { logs: [log], hasNextPage: false } }]],
    [
      "instances why order o-1",
      [{ json: { reason: "paused", answer: evil, advice: evil, status: "paused" } }],
    ],
    ["instances export order o-1", [{ json: { format: evil, [evil]: evil } }]],
    ["waiters topic", [{ json: { waiters: [waiter], hasNextPage: false } }]],
    ["instances pause order o-1", [problem]],
  ];

  test.each(cases)("SEC-24: everstep %s shows it, in a pipe", async (line, answers) => {
    server.script(...(answers as never[]));
    const ran = await everstep([...line.split(" "), "--url", server.url]);
    const text = ran.out + ran.err;
    expect(text).toMatch(/owned/);
    expect(steering(text)).toEqual([]);
    expect(text).not.toMatch(/^\$ rm/m);
  });

  test.each(cases)("SEC-24: everstep %s shows it, at a terminal", async (line, answers) => {
    server.script(...(answers as never[]));
    const { screen } = await inTerminal([...line.split(" "), "--url", server.url], { columns: 300 });
    expect(screen).toMatch(/owned/);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: our own colours are the only codes
    expect(steering(screen.replace(/\u001b\[(?:1|2|22|3[1-6]|39)m/g, ""))).toEqual([]);
    expect(screen).not.toMatch(/^\$ rm/m);
  });

  function steering(text: string): readonly string[] {
    return text.match(/(?!\n)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu) ?? [];
  }
});

describe("SEC-28: where credentials go", () => {
  test.each([301, 302, 303, 307, 308])(
    "SEC-28: nothing follows a redirect with %i to another origin",
    async (status) => {
      const other = await ScriptedServer.open();
      const redirect = { status, headers: { location: `${other.url}/workflows` }, text: "" };
      server.script(redirect, redirect, redirect);
      const env = { EVERSTEP_TOKEN: canary };
      const words = ["--url", server.url, "--retries", "0", "-H", `X-Key: ${canary}`];
      const read = await everstep(["workflows", "list", ...words], { env });
      const write = await everstep(["instances", "create", "order", ...words], { env });
      const stream = await everstep(["instances", "logs", "order", "o-1", "--follow", ...words], { env });
      expect([read.code, write.code, stream.code]).toEqual([70, 70, 70]);
      expect(server.requests).toHaveLength(3);
      expect(other.requests).toEqual([]);
      expect(read.err + write.err + stream.err).not.toContain(canary);
      await other.close();
    },
  );

  test("SEC-28: no proxy is used that was not asked for", async () => {
    const proxy = await ScriptedServer.open();
    server.script(none);
    const env = {
      HTTP_PROXY: proxy.url,
      http_proxy: proxy.url,
      HTTPS_PROXY: proxy.url,
      ALL_PROXY: proxy.url,
    };
    const ran = await everstep(["workflows", "list", "--url", server.url], { env });
    expect(ran.code).toBe(0);
    expect(proxy.requests).toEqual([]);
    await proxy.close();
  });

  test("SEC-28: a config file with headers that others can read is warned of, and used", async () => {
    const cwd = emptyFolder();
    const file = join(cwd, "everstep.config.json");
    writeFileSync(file, JSON.stringify({ url: server.url, headers: { "X-Key": canary } }));
    chmodSync(file, 0o644);
    server.script(none);
    const ran = await everstep(["workflows", "list"], { cwd });
    expect(ran.code).toBe(0);
    expect(ran.err).toBe(
      `warning: ${file} has headers in it and can be read by other users of this machine: chmod 600 ${file}\n`,
    );
  });

  test("SEC-28: an exported history is written so that only its owner can read it", async () => {
    const cwd = emptyFolder();
    server.script({ json: { format: "everstep-history" } });
    await everstep(["instances", "export", "order", "o-1", "--url", server.url, "-o", "o-1.json"], { cwd });
    const { stdout } = spawnSync("stat", ["-c", "%a", join(cwd, "o-1.json")], { encoding: "utf8" });
    expect(stdout.trim()).toBe("600");
  });

  const hasOpenssl = spawnSync("openssl", ["version"]).status === 0;
  test.skipIf(!hasOpenssl)(
    "SEC-28: a certificate that nobody vouches for is refused, and nothing is sent",
    async () => {
      const folder = emptyFolder();
      const { key, cert } = selfSigned(folder);
      let requests = 0;
      const tls = createServer({ key: readFileSync(key), cert: readFileSync(cert) }, (_, response) => {
        requests++;
        response.setHeader("content-type", "application/json").end(JSON.stringify({ workflows: [] }));
      });
      tls.listen(0, "127.0.0.1");
      await once(tls, "listening");
      const words = [
        "workflows",
        "list",
        "--url",
        `https://127.0.0.1:${(tls.address() as AddressInfo).port}`,
        "--retries",
        "0",
      ];
      const refused = await everstep(words, { env: { EVERSTEP_TOKEN: canary } });
      expect(refused).toMatchObject({ code: 70 });
      expect(requests).toBe(0);
      const vouched = await everstep(words, { env: { NODE_EXTRA_CA_CERTS: cert } });
      expect(vouched).toMatchObject({ code: 0 });
      tls.close();
      tls.closeAllConnections();
    },
  );
});

function selfSigned(folder: string): { readonly key: string; readonly cert: string } {
  mkdirSync(folder, { recursive: true });
  const [key, cert] = [join(folder, "key.pem"), join(folder, "cert.pem")];
  const kind = ["-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"];
  const names = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"];
  execFileSync("openssl", ["req", ...kind, ...names, "-keyout", key, "-out", cert], { stdio: "ignore" });
  return { key, cert };
}
