/** Files stay small enough to read at one sitting, and hubs small enough to know what they hold together. */
import { expect, test } from "vitest";
import { importsOf, isTest, readSources, type SourceFile } from "./source-tree.ts";

const library = "packages/everstep/src";
const linesMax = 400;

/** How many files each hub may import: to be lowered, and never raised. */
const importsMax: Readonly<Record<string, number>> = {
  "engine/turn.ts": 15,
  // One for each part of a turn, and nothing else.
  "engine/turn-parts.ts": 16,
  "engine/lifecycle.ts": 15,
  "runner/runner.ts": 15,
  "runner/runner-parts.ts": 15,
  "runner/turns.ts": 15,
  "runner/claimer.ts": 15,
  "client/create-workflows.ts": 15,
  "client/build-app.ts": 15,
  "client/workflow-handle.ts": 15,
  "client/instance-handle.ts": 15,
  "client/instance-reading.ts": 15,
  "http/handler.ts": 15,
  "http/admission.ts": 15,
  "http/answers.ts": 15,
};

const sources = readSources(library).filter((file) => !isTest(file));

test("no file of the library has more than 400 lines", () => {
  const long = sources.map(({ path, text }) => ({ path, lines: text.split("\n").length - 1 }));
  expect(long.filter(({ lines }) => lines > linesMax)).toEqual([]);
});

test.each(Object.entries(importsMax))("%s imports at most %i files", (path, most) => {
  const hub = sources.find((file) => file.path === path) as SourceFile;
  const imported = new Set(importsOf(hub).map(({ target }) => target));
  expect([...imported].slice(most)).toEqual([]);
});
