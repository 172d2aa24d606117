import { spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { CommandFailed, UsageError } from "../problems.ts";
import { isTrusted } from "./files.ts";
import { readSettings } from "./settings.ts";

let root: string;
let warnings: string[];

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "everstep-settings-"));
  warnings = [];
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const project = "home/ann/project";
const userFile = "home/ann/.config/everstep/config.json";

test("the URL is taken from the option, the environment, the project, the user and the dev server, in this order", () => {
  write("home/ann/.everstep/dev.json", { url: "http://127.0.0.1:4610/", pid: process.pid });
  expect(settings().url).toBe("http://127.0.0.1:4610/");
  write(userFile, { url: "https://user.example/wf" });
  expect(settings().url).toBe("https://user.example/wf");
  write("home/ann/everstep.config.json", { url: "https://above.example/wf" });
  expect(settings().url).toBe("https://above.example/wf");
  write(`${project}/everstep.config.json`, { url: "https://project.example/wf" });
  expect(settings().url).toBe("https://project.example/wf");
  expect(settings({ env: { EVERSTEP_URL: "https://env.example/wf" } }).url).toBe("https://env.example/wf");
  const both = { url: "https://option.example/wf", env: { EVERSTEP_URL: "https://env.example/wf" } };
  expect(settings(both).url).toBe("https://option.example/wf");
});

test("XDG_CONFIG_HOME moves the user's file", () => {
  write("elsewhere/everstep/config.json", { url: "https://user.example/wf" });
  expect(settings({ env: { XDG_CONFIG_HOME: join(root, "elsewhere") } }).url).toBe("https://user.example/wf");
});

test("without a URL the error says the three ways to give one, and how to start a server", () => {
  const { message, hint } = problemOf(() => settings(), CommandFailed);
  const text = `${message}\n${hint}`;
  for (const way of ["--url", "EVERSTEP_URL", "everstep.config.json", "everstep dev"])
    expect(text).toContain(way);
});

test("a dev server that is gone is named, and not asked", () => {
  const { pid } = spawnSync(process.execPath, ["-e", ""]);
  write(`${project}/.everstep/dev.json`, { url: "http://127.0.0.1:4610/", pid });
  const { hint } = problemOf(() => settings(), CommandFailed);
  expect(hint).toContain(
    `${join(root, project, ".everstep/dev.json")} names (process ${pid}) is no longer running`,
  );
});

test.each([
  "",
  "{",
  "[]",
  '{"url": 5, "pid": 1}',
  '{"url": "http://127.0.0.1:1/"}',
  '{"url": "x", "pid": -1}',
])("a damaged dev.json is as good as none: %s", (text) => {
  write(`${project}/.everstep/dev.json`, text);
  expect(problemOf(() => settings(), CommandFailed).message).toContain("not known where the server is");
});

test("headers come from the file, the token and -H, and the later ones win", () => {
  write(userFile, {
    url: "https://a.example/wf",
    headers: { authorization: "Basic file", "X-Team": "blue" },
  });
  expect(settings().headers).toEqual({ authorization: "Basic file", "X-Team": "blue" });
  const env = { EVERSTEP_TOKEN: "from-env" };
  expect(settings({ env }).headers).toEqual({ Authorization: "Bearer from-env", "X-Team": "blue" });
  const header = ["AUTHORIZATION: Bearer typed", "X-List: 1", "x-list:2 "];
  expect(settings({ env, header }).headers).toEqual({
    AUTHORIZATION: "Bearer typed",
    "X-Team": "blue",
    "x-list": "1, 2",
  });
});

test("SEC-28: headers of a config file are for the server it names, not for one that was named elsewhere", () => {
  write(userFile, { url: "https://a.example/wf", headers: { Authorization: "Bearer a" } });
  expect(settings({ url: "https://a.example/other/mount" }).headers).toEqual({ Authorization: "Bearer a" });
  expect(settings({ url: "https://b.example/wf" }).headers).toEqual({});
  expect(settings({ url: "http://a.example/wf" }).headers).toEqual({});
  write(`${project}/everstep.config.json`, { url: "https://b.example/wf" });
  expect(settings()).toEqual({ url: "https://b.example/wf", headers: {} });
});

test("SEC-28: the user's headers without a URL go to a server that the user names, not to one that a folder names", () => {
  write(userFile, { headers: { Authorization: "Bearer a" } });
  expect(settings({ url: "https://a.example/wf" }).headers).toEqual({ Authorization: "Bearer a" });
  write(`${project}/everstep.config.json`, { url: "https://b.example/wf", headers: { "X-Team": "blue" } });
  expect(settings()).toEqual({ url: "https://b.example/wf", headers: { "X-Team": "blue" } });
});

test("SEC-28: a token and typed headers are in doubt where a file of a folder names the server", () => {
  const env = { EVERSTEP_TOKEN: "from-env" };
  const path = join(root, project, "everstep.config.json");
  write(`${project}/everstep.config.json`, { url: "https://b.example/wf" });
  const doubt = { what: "EVERSTEP_TOKEN", url: "https://b.example/wf", path };
  expect(settings({ env }).doubt).toEqual(doubt);
  expect(settings({ header: ["X-Key: mine"] }).doubt).toEqual({ ...doubt, what: "-H" });
  expect(settings({ env, header: ["X-Key: mine"] }).doubt?.what).toBe("EVERSTEP_TOKEN and -H");
  expect(settings({ env: { ...env, EVERSTEP_URL: "https://b.example/wf" } }).doubt).toBeUndefined();
  expect(settings({ env, url: "https://b.example/wf" }).doubt).toBeUndefined();
  write(userFile, { url: "https://b.example/other" });
  expect(settings({ env })).toEqual({
    url: "https://b.example/wf",
    headers: { Authorization: "Bearer from-env" },
  });
});

test("SEC-28: a dev server gets its own token, never the one of the environment", () => {
  const note = { url: "http://127.0.0.1:4610/", pid: process.pid };
  const env = { EVERSTEP_TOKEN: "from-env" };
  write(`${project}/.everstep/dev.json`, { ...note, token: "of-this-start" });
  expect(settings({ env })).toEqual({ url: note.url, headers: { Authorization: "Bearer of-this-start" } });
  write(`${project}/.everstep/dev.json`, note);
  expect(settings({ env }).doubt).toMatchObject({ what: "EVERSTEP_TOKEN", url: note.url });
});

test("SEC-28: the dev server of the folder gets its own token also when it is named, and nobody else does", () => {
  const note = { url: "http://127.0.0.1:4610/", pid: process.pid, token: "of-this-start" };
  const own = { Authorization: "Bearer of-this-start" };
  write(`${project}/.everstep/dev.json`, note);
  expect(settings({ url: note.url })).toEqual({ url: note.url, headers: own });
  expect(settings({ url: "http://127.0.0.1:4610" }).headers).toEqual(own);
  expect(settings({ env: { EVERSTEP_URL: note.url } }).headers).toEqual(own);
  const others = ["http://127.0.0.1:4611/", "https://127.0.0.1:4610/", "http://localhost:4610/"];
  for (const url of [...others, "http://127.0.0.1:4610/other", "http://evil.example:4610/"])
    expect([url, settings({ url }).headers]).toEqual([url, {}]);
  // What the user says one logs in with wins.
  const env = { EVERSTEP_TOKEN: "from-env" };
  expect(settings({ url: note.url, env }).headers).toEqual({ Authorization: "Bearer from-env" });
  const header = ["authorization: Bearer typed"];
  expect(settings({ url: note.url, header }).headers).toEqual({ authorization: "Bearer typed" });
  write(userFile, { url: note.url, headers: { Authorization: "Bearer kept" } });
  expect(settings({ url: note.url }).headers).toEqual({ Authorization: "Bearer kept" });
});

test("SEC-28: a dev.json of a server that is gone, or of another machine, lends its token to nobody", () => {
  const { pid } = spawnSync(process.execPath, ["-e", ""]);
  const gone = { url: "http://127.0.0.1:4610/", pid, token: "of-this-start" };
  write(`${project}/.everstep/dev.json`, gone);
  expect(settings({ url: gone.url }).headers).toEqual({});
  const elsewhere = { url: "https://b.example/wf", pid: process.pid, token: "of-this-start" };
  write(`${project}/.everstep/dev.json`, elsewhere);
  expect(settings({ url: elsewhere.url }).headers).toEqual({});
});

test.each(["http://evil.example/", "http://127.0.0.1.evil.example/", "http://10.0.0.7:4610/"])(
  "SEC-28: a dev.json that names %s is not followed",
  (url) => {
    write(`${project}/.everstep/dev.json`, { url, pid: process.pid });
    expect(problemOf(() => settings(), CommandFailed).message).toContain("is not on this machine");
  },
);

test("SEC-28: a config file with headers that others can read is warned of, one without headers is not", () => {
  write(userFile, { url: "https://a.example/wf", headers: { Authorization: "Bearer a" } }, 0o644);
  settings();
  expect(warnings).toEqual([
    `${join(root, userFile)} has headers in it and can be read by other users of this machine: chmod 600 ${join(root, userFile)}`,
  ]);
  warnings.length = 0;
  chmodSync(join(root, userFile), 0o600);
  settings();
  write(userFile, { url: "https://a.example/wf" }, 0o644);
  settings();
  expect(warnings).toEqual([]);
});

test("SEC-28: files of other users are not followed; those of the administrator are", () => {
  expect(isTrusted(1000, 1000)).toBe(true);
  expect(isTrusted(0, 1000)).toBe(true);
  expect(isTrusted(1001, 1000)).toBe(false);
  expect(isTrusted(0, 0)).toBe(true);
  expect(isTrusted(1000, 0)).toBe(false);
});

test.each([
  ["{ secret-canary", "is not JSON in line 1"],
  ['{\n"headers": {"Authorization": secret-canary}}', "is not JSON in line 2"],
  ['["secret-canary"]', "it must be an object"],
  ['{"url": {"secret-canary": 1}}', '"url" must be text'],
  ['{"headers": "secret-canary"}', '"headers" must be an object'],
  ['{"headers": {"X-Key": ["secret-canary"]}}', 'the header "X-Key" must be text'],
])("SEC-15: a config file that cannot be used is named without what is in it: %s", (text, expected) => {
  write(userFile, text);
  const { message, hint } = problemOf(() => settings(), CommandFailed);
  expect(message).toContain(expected);
  expect(message).toContain(join(root, userFile));
  expect(`${message}${hint}`).not.toContain("secret-canary");
});

test.each([
  ["not a url at all", "begins with http:// or https://"],
  ["file:///etc/passwd", "begins with http:// or https://"],
  ["https://ann:secret-canary@a.example/wf", "user name or a password"],
  ["https://a.example/wf?token=secret-canary", 'after "?" or "#"'],
])("SEC-15: a URL that cannot be used is refused and not repeated: %s", (url, expected) => {
  const { message, hint } = problemOf(() => settings({ url }), UsageError);
  expect(message).toContain(expected);
  expect(`${message}${hint}`).not.toContain("secret-canary");
});

test.each([
  ["no-colon", "has no colon"],
  [": value", "has no name"],
  ["Na me: secret-canary", "no header name can have"],
  ["X-A: secret-canary\r\nX-B: forged", "line break"],
  ["X-A: secret-canary\nforged", "line break"],
  ["X-A: secret-canary\u0000", "line break or another character"],
  ["X-A\r: secret-canary", "no header name can have"],
  ["X-A: secret-canary ✓", "another character"],
])("SEC-9: the header %j is refused, and its value is not repeated", (header, expected) => {
  const { message, hint } = problemOf(
    () => settings({ url: "https://a.example", header: [header] }),
    UsageError,
  );
  expect(message).toContain(expected);
  expect(`${message}${hint}`).not.toContain("secret-canary");
});

test("SEC-9: headers from the environment and from files are held to the same rules", () => {
  const env = { EVERSTEP_TOKEN: "secret-canary\r\nX-B: forged" };
  const fromEnv = problemOf(() => settings({ url: "https://a.example", env }), UsageError);
  expect(fromEnv.message).toContain("EVERSTEP_TOKEN");
  write(userFile, { headers: { "X-A": "secret-canary\r\nX-B: forged" } });
  const fromFile = problemOf(() => settings({ url: "https://a.example" }), UsageError);
  expect(fromFile.message).toContain(join(root, userFile));
  expect(`${fromEnv.message}${fromFile.message}`).not.toContain("secret-canary");
});

interface Given {
  readonly url?: string;
  readonly header?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

function settings({ url, header = [], env = {} }: Given = {}): ReturnType<typeof readSettings> {
  mkdirSync(join(root, project), { recursive: true });
  const values = { url, header, timeout: undefined, retries: undefined };
  const warn = (message: string): void => void warnings.push(message);
  return readSettings(values, { cwd: join(root, project), home: join(root, "home/ann"), env, warn });
}

function write(path: string, content: unknown, mode = 0o600): void {
  const file = join(root, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, typeof content === "string" ? content : JSON.stringify(content));
  chmodSync(file, mode);
}

function problemOf<Problem>(call: () => unknown, kind: new (...args: never[]) => Problem): Problem {
  try {
    call();
  } catch (error) {
    if (error instanceof kind) return error;
    throw error;
  }
  throw new Error("It was taken.");
}
