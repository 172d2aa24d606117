import { existsSync, mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeEach, describe, expect, test } from "vitest";
import { type Script, startScript, temporaryFolder } from "../../../../../tests/support/sqlite-place.ts";
import type { Ownership } from "../../store/store.ts";
import { abandon, at, claimRequest, create, leaseMs } from "../../testing/store-contract/given.ts";
import type { SqliteStore } from "./index.ts";
import { sqlite } from "./index.ts";

const folder = temporaryFolder();
afterAll(() => rmSync(folder, { recursive: true, force: true }));

let path = "";
let files = 0;
let store: SqliteStore;
let ownership: Ownership;
const scripts: Script[] = [];

beforeEach(() => {
  files += 1;
  path = join(folder, `${files}.db`);
  store = sqlite(path);
  ownership = store.ownership as Ownership;
});
afterEach(async () => {
  for (const script of scripts.splice(0)) await script.kill();
  await store.close();
});

/** A process that holds its name, claims what is due, and then just lives. */
async function startOwner(owner: string): Promise<Script> {
  const script = startScript(
    `
    const store = sqlite(args.path);
    globalThis.hold = await store.ownership.hold(args.owner);
    const claims = await store.claim(given.claimRequest({ now: given.at(0), owner: args.owner }));
    print("holding " + claims.length);
    await nextLine();
    await globalThis.hold.release();
    print("released");
    `,
    { path, owner },
  );
  scripts.push(script);
  return script;
}

test("a process that is killed is found dead at once; one that lives is not", async () => {
  await store.write([create("a"), create("b")], at(0));
  const doomed = await startOwner("doomed");
  expect(await doomed.line()).toBe("holding 2");
  const alive = await startOwner("alive");
  expect(await alive.line()).toBe("holding 0");
  expect(await ownership.findDead()).toEqual([]);

  await doomed.kill();
  expect(await ownership.findDead()).toEqual(["doomed"]);
  expect(await store.claim(claimRequest({ now: at(1) }))).toEqual([]);
  expect(await store.write([abandon("doomed")], at(2))).toEqual([{ kind: "abandoned", runs: 2 }]);
  const claims = await store.claim(claimRequest({ now: at(2) }));
  expect(claims.map(({ instanceId, crashCount }) => [instanceId, crashCount])).toEqual([
    ["a", 1],
    ["b", 1],
  ]);

  await ownership.bury("doomed");
  expect(await ownership.findDead()).toEqual([]);
});

test("an owner stays dead until it is buried, for every finder", async () => {
  const doomed = await startOwner("doomed");
  await doomed.line();
  await doomed.kill();
  const others = [sqlite(path), sqlite(path)];
  for (const each of others) expect(await each.ownership?.findDead()).toEqual(["doomed"]);
  await Promise.all(others.map((each) => each.ownership?.bury("doomed")));
  expect(await ownership.findDead()).toEqual([]);
});

test("an owner that stops in order leaves nothing behind", async () => {
  const owner = await startOwner("orderly");
  await owner.line();
  owner.send("stop");
  expect(await owner.line()).toBe("released");
  await owner.ended;
  expect(await ownership.findDead()).toEqual([]);
  expect(existsSync(`${path}-owners`)).toBe(false);
});

test("a name that is taken by a living process is refused", async () => {
  const owner = await startOwner("alive");
  await owner.line();
  await expect(ownership.hold("alive")).rejects.toMatchObject({
    code: "STORE_UNAVAILABLE",
    message: expect.stringContaining("no other runner has the same id"),
  });
});

test("bury leaves a living owner alone", async () => {
  const owner = await startOwner("alive");
  await owner.line();
  await ownership.bury("alive");
  expect(readdirSync(`${path}-owners`)).toEqual(["alive.everstep"]);
  await owner.kill();
  expect(await ownership.findDead()).toEqual(["alive"]);
});

test("a process never takes its own owners for dead, whichever store looks", async () => {
  const holds = await Promise.all(["one", "two"].map((owner) => ownership.hold(owner)));
  const other = sqlite(path);
  expect(await other.ownership?.findDead()).toEqual([]);
  await other.ownership?.bury("one");
  // Looking must not have loosened the lock either.
  const finder = startScript(`print(JSON.stringify(await sqlite(args.path).ownership.findDead()))`, { path });
  expect(await finder.line()).toBe("[]");
  await finder.ended;
  for (const hold of holds) await hold.release();
});

test("owners register and finders look at the same time, and nobody alive is ever refused or left without a lock", async () => {
  const finders = Array.from({ length: 2 }, () =>
    startScript(
      `
      const { ownership } = sqlite(args.path);
      print("looking");
      let stop = false;
      nextLine().then(() => { stop = true; });
      while (!stop) {
        for (const owner of await ownership.findDead()) await ownership.bury(owner);
        await new Promise(setImmediate);
      }
      `,
      { path },
    ),
  );
  for (const finder of finders) await finder.line();
  for (let round = 0; round < 150; round += 1) {
    const hold = await ownership.hold(`owner-${round}`);
    expect(existsSync(join(`${path}-owners`, `owner-${round}.everstep`))).toBe(true);
    await hold.release();
  }
  for (const finder of finders) {
    finder.send("stop");
    await finder.ended;
  }
});

test("names that could leave the folder are refused", async () => {
  for (const name of ["../x", "a/b", "", ".", "a b", "x".repeat(65), "a.everstep"]) {
    await expect(ownership.hold(name)).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
    await expect(ownership.bury(name)).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
  }
});

test("files of others in the folder prove nothing and hide nobody", async () => {
  mkdirSync(`${path}-owners`);
  writeFileSync(join(`${path}-owners`, "notes.txt"), "mine");
  writeFileSync(join(`${path}-owners`, "strange.everstep"), "x".repeat(2000));
  const doomed = await startOwner("doomed");
  await doomed.line();
  await doomed.kill();
  expect(await ownership.findDead()).toEqual(["doomed"]);
});

test("stores in one file with different namespaces keep their owners apart", async () => {
  const doomed = await startOwner("doomed");
  await doomed.line();
  await doomed.kill();
  const other = sqlite({ path, namespace: "other" });
  expect(await other.ownership?.findDead()).toEqual([]);
  await other.ownership?.bury("doomed");
  expect(await ownership.findDead()).toEqual(["doomed"]);
});

test("processes that know the file under different names find each other", async () => {
  await store.migrate();
  const doomed = await startOwner("doomed");
  await doomed.line();
  await doomed.kill();
  symlinkSync(path, `${path}.link`);
  expect(await sqlite(`${path}.link`).ownership?.findDead()).toEqual(["doomed"]);
});

test("without an owner there is no folder, and nobody is dead", async () => {
  expect(await ownership.findDead()).toEqual([]);
  await ownership.bury("nobody");
  expect(existsSync(`${path}-owners`)).toBe(false);
});

describe("in memory", () => {
  test("there is no ownership, and the store says why", () => {
    const inMemory = sqlite(":memory:");
    expect(inMemory.ownership).toBeUndefined();
    expect(inMemory.capabilities.ownership).toEqual({ has: false, why: expect.any(String) });
  });
});

test("a lease of a dead owner runs out by itself where nobody looks", async () => {
  await store.write([create("a")], at(0));
  const doomed = await startOwner("doomed");
  await doomed.line();
  await doomed.kill();
  expect(await store.claim(claimRequest({ now: at(leaseMs) }))).toMatchObject([
    { instanceId: "a", crashCount: 1 },
  ]);
});
