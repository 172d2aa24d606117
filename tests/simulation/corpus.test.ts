import { expect, test } from "vitest";
import { keptNames, readCase, replayCase } from "./corpus.ts";

test.each(keptNames())("what broke once does not break again: %s", async (name) => {
  const { finding } = await replayCase(readCase(name));
  expect(finding, `npm run simulate -- --corpus ${name}`).toBeNull();
});
