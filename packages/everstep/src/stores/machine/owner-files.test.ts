import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { ownerFiles } from "./owner-files.ts";
import { isGone, ownIdentity } from "./process-identity.ts";

const root = mkdtempSync(join(tmpdir(), "everstep-owner-files-"));
const children = new Set<ChildProcess>();
let folder: string;
let count = 0;

beforeEach(() => {
  folder = join(root, String(count++));
});
afterEach(() => {
  for (const child of children) child.kill("SIGKILL");
  children.clear();
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

/** A process that holds an owner until it is killed. */
async function holder(owner: string): Promise<ChildProcess> {
  const place = JSON.stringify(join(import.meta.dirname, "owner-files.ts"));
  const script = `
    const { ownerFiles } = await import(${place});
    await ownerFiles({ listRunners: async () => [], folder: ${JSON.stringify(folder)} }).hold(${JSON.stringify(owner)});
    console.log("held");
    setInterval(() => {}, 1000);
  `;
  const child = spawn(process.execPath, ["--input-type=module", "--no-warnings", "-e", script], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  children.add(child);
  await once(child.stdout!, "data");
  return child;
}

async function kill(child: ChildProcess): Promise<void> {
  child.kill("SIGKILL");
  await once(child, "exit");
  children.delete(child);
}

/** What a store that knows these owners sees. */
const seenBy = (...known: readonly string[]) => {
  const asked: number[] = [];
  const listRunners = async (limit: number) => {
    asked.push(limit);
    return known.map((owner) => ({ owner }));
  };
  return { ...ownerFiles({ listRunners, folder }), asked };
};

describe("a process killed on this machine", () => {
  test("is known to be dead at once, and its store is asked only then", async () => {
    const child = await holder("a");
    const { findDead, bury, asked } = seenBy("a", "b");
    expect(await findDead()).toEqual([]);
    expect(asked).toEqual([]);
    await kill(child);
    expect(await findDead()).toEqual(["a"]);
    await bury("a");
    expect(await findDead()).toEqual([]);
    expect(readdirSync(folder)).toEqual([]);
  });

  test("is not the business of a store that does not know it, which soon asks no more", async () => {
    await kill(await holder("a"));
    const { findDead, asked } = seenBy("b");
    for (let look = 0; look < 10; look++) expect(await findDead()).toEqual([]);
    expect(asked).toHaveLength(3);
    expect(await seenBy("a").findDead()).toEqual(["a"]);
  });

  test.runIf(process.platform === "linux")(
    "is asked about once, whichever store looks how often: there may be hundreds of them",
    async () => {
      await kill(await holder("a"));
      const asked = vi.spyOn(process, "kill");
      try {
        for (const known of ["a", "a", "b"]) await seenBy(known).findDead();
        expect(await seenBy("a").findDead()).toEqual(["a"]);
        expect(asked).toHaveBeenCalledTimes(1);
      } finally {
        asked.mockRestore();
      }
    },
  );

  test("does not make an owner dead that another process holds too", async () => {
    const [one, other] = [await holder("a"), await holder("a")];
    await kill(one);
    const { findDead, bury } = seenBy("a");
    expect(await findDead()).toEqual([]);
    await bury("a");
    await kill(other);
    expect(await findDead()).toEqual(["a"]);
  });
});

describe("nobody is taken for dead", () => {
  const own = ownIdentity()!;

  test("who lives, or let go in an orderly way", async () => {
    const { hold, findDead } = seenBy("a");
    const held = await hold("a");
    expect(await findDead()).toEqual([]);
    await held.release();
    expect(await findDead()).toEqual([]);
  });

  test("whose process is counted elsewhere, as in another container", () => {
    expect(isGone({ ...own, pid: 999_999_999, space: "pid:[1]" })).toBe(false);
  });

  test.runIf(process.platform === "linux")(
    "but whose number belongs to another process now, or to an earlier boot",
    () => {
      expect(isGone(own)).toBe(false);
      expect(isGone({ ...own, began: "1" })).toBe(true);
      expect(isGone({ ...own, boot: "earlier" })).toBe(true);
    },
  );

  test.each(["", "{", "null", "[]", '{"pid":-1,"boot":"b","space":"s","began":null}'])(
    "because of a file that says %j",
    async (text) => {
      mkdirSync(folder, { mode: 0o700 });
      writeFileSync(join(folder, "a.1-1"), text);
      expect(await seenBy("a").findDead()).toEqual([]);
    },
  );

  test.runIf(process.getuid)("by a file in a folder that others may write to", async () => {
    await kill(await holder("a"));
    chmodSync(folder, 0o777);
    expect(await seenBy("a").findDead()).toEqual([]);
    expect(await (await seenBy("a").hold("b")).release()).toBeUndefined();
    expect(readdirSync(folder)).toHaveLength(1);
  });
});

test("where nothing can be written the runner runs without", async () => {
  writeFileSync(folder, "a file, no folder");
  const { hold, findDead, bury } = seenBy("a");
  await (await hold("a")).release();
  expect(await findDead()).toEqual([]);
  await bury("a");
});

test("what was left by processes that nobody remembers is cleared away", async () => {
  await kill(await holder("old"));
  const [file] = readdirSync(folder);
  const longAgo = new Date(Date.now() - 9 * 24 * 60 * 60 * 1000);
  utimesSync(join(folder, file!), longAgo, longAgo);
  const held = await seenBy().hold("new");
  expect(readdirSync(folder)).toHaveLength(1);
  await held.release();
});
