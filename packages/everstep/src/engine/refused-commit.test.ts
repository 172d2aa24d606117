import { expect, test } from "vitest";
import { StoreError } from "../model/error.ts";
import { at, awaiting, completed, never, received } from "../testing/store-contract/given.ts";
import type { DraftContent } from "./draft.ts";
import { lesserCommits } from "./refused-commit.ts";

const tooLarge = new StoreError("too-large", "PAYLOAD_TOO_LARGE", "It is too large.");

test("a body whose result gives way has failed an attempt; a wait whose event gives way has had none", () => {
  const steps = [completed(1, { starts: 2 }), received(awaiting(2, "paid", never), "a long story".repeat(9))];
  const content: DraftContent = {
    ...{ steps, timeouts: [], timeoutsSaw: Number.POSITIVE_INFINITY, logs: [], alongside: [] },
    consumed: [{ seq: 1, stepKey: "step 2#1" }],
    mutations: null,
    mutated: null,
  };
  const sent = { content, next: { kind: "continue" }, upTo: 2 } as const;
  const [first, second] = [...lesserCommits(sent, tooLarge, at(5))];
  expect(first?.failed).toMatchObject([{ key: "step 2#1", status: "errored", errors: [] }]);
  expect(first?.content.consumed).toEqual([]);
  expect(second?.failed).toMatchObject([
    { key: "step 2#1", errors: [] },
    { key: "step 1#1", errors: [{ attempt: 2, at: at(5), error: { code: "PAYLOAD_TOO_LARGE" } }] },
  ]);
});
