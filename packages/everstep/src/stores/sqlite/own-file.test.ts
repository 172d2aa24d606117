import { chmodSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { temporaryFolder } from "../../../../../tests/support/sqlite-place.ts";
import { sqlite } from "./index.ts";

const folder = temporaryFolder();
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const modeOf = (name: string): string => (statSync(join(folder, name)).mode & 0o777).toString(8);

test.skipIf(process.platform === "win32")(
  "a new file and what lies beside it is for its owner alone; one that is there keeps its mode",
  async () => {
    writeFileSync(join(folder, "there.db"), "");
    chmodSync(join(folder, "there.db"), 0o640);
    const stores = ["new.db", "there.db"].map((name) => sqlite(join(folder, name)));
    for (const store of stores) await store.migrate();
    const files = readdirSync(folder).filter((name) => statSync(join(folder, name)).isFile());
    expect(files.length).toBeGreaterThan(3);
    for (const name of files)
      expect([name, modeOf(name)]).toEqual([name, name.startsWith("new") ? "600" : "640"]);
    // Who may not read the file may not hold the locks of its runners either.
    const holds = await Promise.all(stores.map((store) => store.ownership?.hold("me")));
    expect(modeOf("new.db-owners")).toBe("700");
    expect(modeOf("there.db-owners")).not.toBe("700");
    for (const hold of holds) await hold?.release();
    for (const store of stores) await store.close();
  },
);
