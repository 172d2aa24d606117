import { describe, expect, test } from "vitest";
import { EverstepError } from "../../../packages/everstep/src/model/error.ts";
import type { StoreCall } from "../../../packages/everstep/src/testing/intercept-store.ts";
import { Answers } from "./answers.ts";

const twice = [{ invariant: "INV-36", message: 'two were told that they created "a"' }];

describe("the judge of what callers are told", () => {
  test("two who hear one after the other that the same instance is theirs are found", () => {
    const answers = worldOf("a");
    expect(answers.created(answers.asks("a"))).toEqual([]);
    expect(answers.created(answers.asks("a"))).toEqual(twice);
  });

  test("a creation that the store has lost may be told to another, whenever he asked", () => {
    const answers = new Answers(true);
    const goBack = answers.mark();
    stands(answers, "a");
    answers.created(answers.asks("a"));
    const asked = answers.asks("a");
    goBack();
    stands(answers, "a");
    expect(answers.created(asked)).toEqual([]);
    expect(answers.created(answers.asks("a"))).toEqual([]);
    expect(answers.created(answers.asks("a"))).toEqual(twice);
  });

  test("a loss does not excuse a second creation of what stood before it", () => {
    const answers = worldOf("a");
    const asked = answers.asks("a");
    const goBack = answers.mark();
    answers.created(asked);
    stands(answers, "b");
    goBack();
    expect(answers.created(answers.asks("a"))).toEqual(twice);
  });

  test("whoever alone asks for an id does not hear that it is taken, unless it was lost meanwhile", () => {
    const taken = new EverstepError("INSTANCE_ID_ALREADY_EXISTS", "It is there.");
    const answers = new Answers(true);
    const goBack = answers.mark();
    const asked = answers.asks("a");
    stands(answers, "a");
    const other = answers.asks("b");
    goBack();
    expect(answers.notCreated(asked, taken)).toEqual([]);
    expect(answers.notCreated(other, taken)).toHaveLength(1);
  });
});

function worldOf(id: string): Answers {
  const answers = new Answers(true);
  stands(answers, id);
  return answers;
}

function stands(answers: Answers, id: string): void {
  const requests = [{ kind: "create", workflowName: "w", instanceId: id }];
  answers.applied({ method: "write", requests } as unknown as StoreCall, [{ kind: "created" }]);
}
