/** Every history that any released version recorded replays alike on this one. */
import { spawnSync } from "node:child_process";
import { globSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { type HistoryDocument, replayHistory } from "everstep";
import { afterAll, describe, expect, test } from "vitest";
import { decodeValue } from "../../../packages/everstep/src/authoring/codec.ts";
import { stories } from "./stories/index.ts";
import { tell } from "./tell.ts";

const workflows = new Map(
  stories.flatMap((story) => Object.values(story.workflows).map((workflow) => [workflow.name, workflow])),
);
const files = globSync("tests/golden/histories/fixtures/*/*.json").sort();
const folder = mkdtempSync(join(tmpdir(), "everstep-golden-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function replay(history: HistoryDocument) {
  const workflow = workflows.get(history.workflowName);
  if (!workflow) throw new Error(`No story has a workflow "${history.workflowName}" any more.`);
  return replayHistory(history, workflow);
}

/** What a replay must come to. */
function expected({ status, output }: HistoryDocument) {
  if (status === "complete") return { classification: "identical", output: output && decodeValue(output) };
  return { classification: "identical" };
}

describe("recorded histories (INV-15, INV-17, INV-18)", () => {
  test("there are some of the first version", () => {
    expect(files.filter((file) => file.includes("/0.1.0/")).length).toBeGreaterThan(30);
  });

  test.each(files.map((file) => ({ version: basename(dirname(file)), name: basename(file, ".json"), file })))(
    "R-034 $version $name replays alike",
    async ({ file }) => {
      const history: HistoryDocument = JSON.parse(readFileSync(file, "utf8"));
      const { finding, ...replayed } = await replay(history);
      expect(replayed, finding.message).toMatchObject(expected(history));
    },
  );

  test("they name no place of whoever recorded them", () => {
    const telling = files.filter((file) =>
      /node_modules|file:|"stack|\.ts:\d/.test(readFileSync(file, "utf8")),
    );
    expect(telling).toEqual([]);
  });
});

describe("recording", () => {
  test.each(stories)("$name gives histories that replay alike", async (story) => {
    for (const { name, history } of await tell(story)) {
      const { finding, ...replayed } = await replay(history);
      expect(replayed, `${name}: ${finding.message}`).toMatchObject(expected(history));
    }
  });

  test("writes the same files in every process, and overwrites none", () => {
    const [one, other] = [join(folder, "one"), join(folder, "other")];
    expect(record(one).status).toBe(0);
    expect(record(other).status).toBe(0);
    const names = readdirSync(one);
    expect(names.length).toBeGreaterThan(30);
    expect(contents(other)).toEqual(contents(one));
    const again = record(one);
    expect([again.status, again.stderr]).toEqual([1, expect.stringContaining("Nothing was written")]);
    expect(readdirSync(one)).toEqual(names);
  });
});

function record(into: string) {
  const flags = ["--conditions=everstep-source", "--disable-warning=ExperimentalWarning"];
  return spawnSync(process.execPath, [...flags, "tests/golden/histories/record.ts", into], {
    encoding: "utf8",
  });
}

function contents(of: string): Record<string, string> {
  return Object.fromEntries(readdirSync(of).map((name) => [name, readFileSync(join(of, name), "utf8")]));
}
