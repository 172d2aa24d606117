import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { DevFolder } from "./dev-folder.ts";

function project(): string {
  const cwd = mkdtempSync(join(tmpdir(), "everstep-dev-folder-"));
  onTestFinished(() => rmSync(cwd, { recursive: true }));
  // Of those who let others read what they make.
  const before = process.umask(0o022);
  onTestFinished(() => void process.umask(before));
  return cwd;
}

const modeOf = (path: string): string => (statSync(path).mode & 0o777).toString(8);

test("the folder is its owner's alone, and the note with the token too", () => {
  const cwd = project();
  const folder = new DevFolder(cwd);
  folder.make();
  expect(modeOf(folder.path)).toBe("700");
  folder.write({ url: "http://127.0.0.1:1/", pid: process.pid, token: "secret" });
  expect(modeOf(join(folder.path, "dev.json"))).toBe("600");
  folder.make();
  expect(modeOf(folder.path)).toBe("700");
});

test("a note that others can read does not get the token: it is made anew", () => {
  const cwd = project();
  const note = join(cwd, ".everstep", "dev.json");
  mkdirSync(join(cwd, ".everstep"));
  writeFileSync(note, "{}");
  chmodSync(note, 0o666);
  new DevFolder(cwd).write({ url: "http://127.0.0.1:1/", pid: process.pid, token: "secret" });
  expect(modeOf(note)).toBe("600");
  expect(readFileSync(note, "utf8")).toContain("secret");
});
