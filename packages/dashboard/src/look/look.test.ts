import { globSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";

// All styles are on one page: a class that two files describe looks like neither means it.
test("every class is described in one file", () => {
  const homes = new Map<string, Set<string>>();
  for (const file of globSync("packages/dashboard/src/look/*.css")) {
    for (const [, name = ""] of readFileSync(file, "utf8").matchAll(/^\.([a-z0-9-]+)/gm)) {
      if (!name.startsWith("is-")) homes.set(name, (homes.get(name) ?? new Set()).add(file));
    }
  }
  expect([...homes].filter(([, files]) => files.size > 1)).toEqual([]);
});
