/** client.md names every call that there is. */
import { readFileSync } from "node:fs";
import { createClient } from "everstep/client";
import { expect, test } from "vitest";

const page = readFileSync("docs/client.md", "utf8");
const client = createClient({ url: "http://127.0.0.1:4610" });
const workflow = client.workflow("order");
const callsOf = (of: object): string[] =>
  Object.entries(of).flatMap(([name, value]) => (typeof value === "function" ? [name] : []));
/** The calls in the first column of the table with this heading. */
const shown = (heading: string): string[] => {
  const rows =
    page
      .slice(page.indexOf(`| ${heading} | |`))
      .split("\n\n")[0]
      ?.split("\n")
      .slice(2) ?? [];
  return rows.flatMap((row) =>
    [...(row.split("|")[1] ?? "").matchAll(/`(\w+)\(/g)].map(([, name = ""]) => name),
  );
};

test.each([
  ["`client`", client],
  ["`client.workflow(name)`", workflow],
  ["An instance", workflow.get("o-1")],
])("the calls of %s are on the page, and no other", (heading, of) => {
  expect(shown(heading).sort()).toEqual(
    callsOf(of)
      .filter((name) => name !== "workflow")
      .sort(),
  );
});
