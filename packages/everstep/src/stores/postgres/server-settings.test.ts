import { expect, test } from "vitest";
import type { Database } from "../sql/session.ts";
import { readWarnings } from "./index.ts";

function answering(settings: Readonly<Record<string, string>>): Database {
  const rows = Object.entries(settings).map(([name, setting]) => ({ name, setting }));
  return { run: async () => [{ rows, changes: 0 }] } as Partial<Database> as Database;
}

test("a server that keeps what it acknowledged is warned of nothing", async () => {
  const safe = { fsync: "on", full_page_writes: "on", synchronous_commit: "on" };
  expect(await readWarnings(answering(safe))).toEqual([]);
  expect(await readWarnings(answering({ synchronous_commit: "remote_apply" }))).toEqual([]);
});

test.each([
  ["fsync", "FSYNC_OFF"],
  ["full_page_writes", "FULL_PAGE_WRITES_OFF"],
  ["synchronous_commit", "SYNCHRONOUS_COMMIT_OFF"],
])("%s = off is warned of, with what to set instead", async (name, code) => {
  const [warning, ...others] = await readWarnings(answering({ [name]: "off" }));
  expect(warning).toEqual({ code, message: expect.stringContaining(`Set ${name} = on`) });
  expect(others).toEqual([]);
});
