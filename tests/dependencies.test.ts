import { readFileSync } from "node:fs";
import { expect, test } from "vitest";

test("CONTRIBUTING.md says of every dependency of the repository what it is for", () => {
  const { devDependencies } = JSON.parse(readFileSync("package.json", "utf8"));
  const page = readFileSync("CONTRIBUTING.md", "utf8");
  const table = page.slice(page.indexOf("## Dependencies"), page.indexOf("## Add a route"));
  const named = [...table.matchAll(/^\| (`.+?`) \|/gm)].flatMap(([, names = ""]) =>
    [...names.matchAll(/`(.+?)`/g)].map(([, name = ""]) => name),
  );
  expect(named.sort()).toEqual(Object.keys(devDependencies).sort());
});
