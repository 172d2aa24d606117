import { expect, test } from "vitest";
import { findCommand } from "./find-command.ts";
import { UsageError } from "./problems.ts";
import { commands } from "./registry.ts";

test.each<[string, string, string[]]>([
  ["instances list", "instances list", []],
  ["wf ls --status running", "instances list", ["--status", "running"]],
  ["dead-letters", "dead-letters list", []],
  ["dead-letters order", "dead-letters list", ["order"]],
  ["dead-letters retry o-1", "dead-letters retry", ["o-1"]],
  ["emit topic", "emit", ["topic"]],
  ["--url http://x instances list order", "instances list", ["order", "--url", "http://x"]],
  ["--url=http://x -H A:b workflows list", "workflows list", ["--url=http://x", "-H", "A:b"]],
])("finds %s", (typed, name, words) => {
  const found = findCommand(commands, typed.split(" "));
  expect({ name: found.command.path.join(" "), words: found.words }).toEqual({ name, words });
});

test.each([
  ["instance list", 'There is no command "everstep instance"', '"everstep instances list"'],
  ["instances lst", 'There is no command "everstep instances lst"', '"everstep instances list"'],
  ["instances gte order o-1", 'There is no command "everstep instances gte"', '"everstep instances get"'],
  ["instnaces get order o-1", 'There is no command "everstep instnaces"', '"everstep instances get"'],
  ["emmit x", 'There is no command "everstep emmit"', '"everstep emit"'],
  ["wf kill o-1", 'There is no command "everstep wf kill"', '"everstep help wf" lists'],
  ["frobnicate", 'There is no command "everstep frobnicate"', '"everstep help" lists'],
  ["-v", "There is no option -v.", "Did you mean --version?"],
  ["--versoin", "There is no option --versoin.", "Did you mean --version?"],
  ["--url http://x --zebra=1", "There is no option --zebra.", '"everstep help" lists'],
  ["--url http://x", "The command is missing.", '"everstep help" lists'],
  ["instances", '"everstep instances" needs one more word: list, get,', '"everstep help instances" lists'],
])("says of %s what there is instead", (typed, message, hint) => {
  const error = problemOf(typed.split(" "));
  expect(error.message).toContain(message);
  expect(error.hint).toContain(hint);
});

function problemOf(words: readonly string[]): UsageError {
  try {
    findCommand(commands, words);
  } catch (error) {
    if (error instanceof UsageError) return error;
    throw error;
  }
  throw new Error("It was found.");
}
