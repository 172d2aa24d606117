/** Where a command finds its server when nobody tells it. */
import { spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { bearerToken } from "everstep";
import { afterAll, beforeAll, expect, test } from "vitest";
import { emptyFolder, everstep } from "./support/everstep.ts";
import { openWorld, type World } from "./support/world.ts";

let world: World;
const token = "a-token-of-some-length";
beforeAll(async () => {
  world = await openWorld({ authorize: bearerToken(token) });
});
afterAll(() => world.close());

test("in a folder below one where a dev server runs, no URL is needed", async () => {
  const folder = emptyFolder();
  writeDevFile(folder, process.pid, token);
  const below = join(folder, "src", "deep");
  mkdirSync(below, { recursive: true });
  const ran = await everstep(["workflows", "list"], {
    cwd: below,
    env: { EVERSTEP_TOKEN: "for-another-server" },
  });
  expect(ran).toMatchObject({ code: 0, err: "" });
});

test("a dev server that was killed is not asked, and is named", async () => {
  const folder = emptyFolder();
  const { pid } = spawnSync(process.execPath, ["-e", ""]);
  writeDevFile(folder, pid);
  const ran = await everstep(["workflows", "list"], { cwd: folder });
  expect(ran.code).toBe(70);
  expect(ran.err).toContain(`(process ${pid}) is no longer running`);
});

test("without any server the error says the three ways to name one, and how to start one", async () => {
  const ran = await everstep(["workflows", "list"], { cwd: emptyFolder() });
  expect(ran.code).toBe(70);
  expect(ran.err).toMatchInlineSnapshot(`
    "error: It is not known where the server is.
    Give its URL in one of three ways:
      --url https://host/api/workflows
      EVERSTEP_URL=https://host/api/workflows
      { "url": "https://host/api/workflows" } in everstep.config.json here or in a folder above
    or start one with "everstep dev": the other commands then find it by themselves.
    "
  `);
});

test("a server that wants to know who it is says so, and so does the hint", async () => {
  const ran = await world.run("workflows list");
  expect(ran.code).toBe(70);
  expect(ran.err).toMatch(/\(UNAUTHORIZED\)\nGive a token with EVERSTEP_TOKEN/);
});

test("a server that is not there is named without what was sent to it", async () => {
  const ran = await everstep(["workflows", "list", "--url", "http://127.0.0.1:9", "--retries", "0"]);
  expect(ran.code).toBe(70);
  expect(ran.err).toMatch(
    /^error: No answer to GET http:\/\/127\.0\.0\.1:9\/workflows.*\(CONNECTION_FAILED\)\n/,
  );
});

test("https:// to a server that speaks http is said in our words, not in those of OpenSSL", async () => {
  const url = world.url.replace("http:", "https:");
  const ran = await everstep(["workflows", "list", "--url", url, "--retries", "0"]);
  expect(ran.code).toBe(70);
  expect(ran.err).toContain("does not speak TLS, so its url may begin with http:// instead of https://");
  expect(ran.err).not.toMatch(/SSL|routines|:error:/i);
});

test("the dev server of the folder may be named by its URL", async () => {
  const folder = emptyFolder();
  writeDevFile(folder, process.pid, token);
  const ran = await everstep(["workflows", "list", "--url", world.url], { cwd: folder });
  expect(ran).toMatchObject({ code: 0, err: "" });
});

function writeDevFile(folder: string, pid: number, token?: string): void {
  mkdirSync(join(folder, ".everstep"));
  writeFileSync(join(folder, ".everstep", "dev.json"), JSON.stringify({ url: world.url, pid, token }), {
    mode: 0o600,
  });
}
