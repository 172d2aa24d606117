import { readFileSync } from "node:fs";
import { expect, test } from "vitest";

test("CONTRIBUTING.md says of every dependency of the repository what it is for", () => {
  const wanted = ["package.json", "packages/dashboard/package.json"].flatMap((file) =>
    Object.keys(JSON.parse(readFileSync(file, "utf8")).devDependencies),
  );
  const page = readFileSync("CONTRIBUTING.md", "utf8");
  const table = page.slice(page.indexOf("## Dependencies"), page.indexOf("## Add a route"));
  const named = [...table.matchAll(/^\| (`.+?`) \|/gm)].flatMap(([, names = ""]) =>
    [...names.matchAll(/`(.+?)`/g)].map(([, name = ""]) => name),
  );
  expect(named.sort()).toEqual(wanted.sort());
});
