import { expect, test } from "vitest";
import { type Command, defineCommand } from "./command.ts";
import { parse } from "./parse.ts";
import { UsageError } from "./problems.ts";

const command = defineCommand({
  path: ["things", "send"],
  group: "Instances",
  summary: "send a thing",
  arguments: [
    { name: "workflow", asOption: true, optional: true, summary: "whose" },
    { name: "id", asOption: true, summary: "which" },
    { name: "step", summary: "from where" },
  ],
  options: {
    full: { type: "flag", short: "f", summary: "all of it" },
    "page-size": { type: "number", summary: "how many" },
    delay: { type: "duration", summary: "how long" },
    params: { type: "json", placeholder: "<json>", summary: "what" },
    level: { choices: ["debug", "info"], summary: "how much" },
    header: { repeat: true, short: "H", summary: "what else" },
  },
  examples: [{ line: "things send order o-1 ship", about: "send it" }],
  async run() {},
});

test.each<[string, string[], object]>([
  ["all positionals", ["order", "o-1", "ship"], { workflow: "order", id: "o-1", step: "ship" }],
  ["without the optional one, which is the first", ["o-1", "ship"], { id: "o-1", step: "ship" }],
  [
    "an argument given as an option takes no positional",
    ["--id", "o-1", "ship"],
    { id: "o-1", step: "ship" },
  ],
  [
    "all of them given as options, anywhere",
    ["--id=o-1", "ship", "--workflow", "order"],
    { workflow: "order", id: "o-1", step: "ship" },
  ],
  ["flags, long and short", ["o-1", "ship", "-f"], { full: true }],
  ["a flag that is not there", ["o-1", "ship"], { full: false }],
  ["numbers", ["o-1", "ship", "--page-size", "10"], { pageSize: 10 }],
  ["durations with a unit", ["o-1", "ship", "--delay", "1.5s"], { delay: 1500 }],
  ["durations without one", ["o-1", "ship", "--delay", "250"], { delay: 250 }],
  ["JSON", ["o-1", "ship", "--params", '{"a":[1]}'], { params: { a: [1] } }],
  ["a negative number is a value, not an option", ["o-1", "ship", "--params", "-5"], { params: -5 }],
  ["what may be repeated", ["o-1", "ship", "-H", "a", "-Hb", "--header=c"], { header: ["a", "b", "c"] }],
  ["nothing of what may be repeated", ["o-1", "ship"], { header: [] }],
  ["a value with an equals sign", ["o-1", "ship", "--header=a=b"], { header: ["a=b"] }],
  ["an empty value", ["o-1", "ship", "--header="], { header: [""] }],
  ["everything after -- as it is", ["o-1", "--", "--full"], { id: "o-1", step: "--full", full: false }],
  ["a single dash as a value", ["o-1", "-"], { step: "-" }],
])("takes %s", (_, words, expected) => {
  expect(parse(command, words)).toMatchObject(expected);
});

test.each<[string, string[], string, string | undefined]>([
  ["a missing argument", ["o-1"], "needs <step>: from where", "everstep things send order o-1 ship"],
  ["several missing arguments", [], "needs <id> and <step>", undefined],
  ["an argument too many", ["order", "o-1", "ship", "more"], 'does not take "more"', "quotes"],
  ["an unknown option", ["o-1", "ship", "--ful"], "has no option --ful", "Did you mean --full?"],
  [
    "an option that is nothing like any",
    ["o-1", "ship", "--zebra"],
    "no option --zebra",
    "lists its options",
  ],
  ["an unknown letter", ["o-1", "ship", "-x"], "has no option -x", undefined],
  ["a value that is missing", ["o-1", "ship", "--delay"], "--delay needs a value: how long", undefined],
  [
    "an option where a value should be",
    ["o-1", "ship", "--delay", "--full"],
    "needs a value",
    "--delay=<delay>",
  ],
  ["a flag with a value", ["o-1", "ship", "--full=yes"], "--full takes no value", undefined],
  [
    "an option that is there twice",
    ["o-1", "ship", "--delay", "1", "--delay", "2"],
    "given twice",
    undefined,
  ],
  ["a number that is none", ["o-1", "ship", "--page-size", "ten"], 'is "ten"; it must be a whole', undefined],
  ["a duration that is none", ["o-1", "ship", "--delay", "soon"], "must be a duration", undefined],
  [
    "a word that is no choice",
    ["o-1", "ship", "--level", "inof"],
    "one of debug, info",
    "Did you mean info?",
  ],
  ["JSON that is none", ["o-1", "ship", "--params", "{a}"], "--params is not JSON at column 2", "^"],
])("refuses %s", (_, words, message, hint) => {
  const error = problemOf(command, words);
  expect(error.message).toContain(message);
  if (hint !== undefined) expect(error.hint).toContain(hint);
});

test("a required option that is left out is named with what it is for", () => {
  const strict = defineCommand({
    path: ["emit"],
    group: "Instances",
    summary: "emit",
    options: { topic: { required: true, summary: "where to" } },
    examples: [],
    async run() {},
  });
  expect(problemOf(strict, []).message).toBe("--topic is missing: where to.");
});

test("only commands that connect take connection options", () => {
  expect(problemOf(command, ["o-1", "ship", "--url", "x"]).message).toContain("has no option --url");
  const connecting = { ...command, connects: true } as const;
  expect(parse(connecting, ["o-1", "ship", "--url", "x", "-H", "A: b"])).toMatchObject({ url: "x" });
});

function problemOf(of: Command, words: readonly string[]): UsageError {
  try {
    parse(of, words);
  } catch (error) {
    if (error instanceof UsageError) return error;
    throw error;
  }
  throw new Error("It was taken.");
}
