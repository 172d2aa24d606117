import { describe, expect, test } from "vitest";
import { EverstepError, StoreError } from "../model/error.ts";
import { invalid, problemResponse, statusOf, toldOf } from "./problems.ts";

const told = (problem: unknown) => {
  const problems: unknown[] = [];
  const runtime = { uuid: () => "ref-1" };
  return { answer: toldOf(problem, { runtime, onProblem: (each) => problems.push(each) }), problems };
};

describe("a failure is told by whose it is", () => {
  test("a caller's own mistake is told as it is, and the host hears nothing", () => {
    const mistake = new EverstepError("INSTANCE_TERMINAL", "It is complete.", { details: { a: 1 } });
    expect(told(mistake)).toEqual({ answer: mistake, problems: [] });
  });

  test("what failed inside is told by a reference, and to the host as it is", () => {
    const inside = new TypeError("x of undefined");
    const { answer, problems } = told(inside);
    expect(answer).toMatchObject({ code: "INTERNAL_ERROR", details: { reference: "ref-1" } });
    expect(answer.message).not.toContain("undefined");
    expect(problems).toEqual([
      expect.objectContaining({ cause: inside, message: "A request failed (ref-1): x of undefined" }),
    ]);
  });

  test("a store that is out of service is told by its code and no more", () => {
    const { answer } = told(new StoreError("unavailable", "STORE_UNAVAILABLE", "db.internal:5432 refused"));
    expect([answer.code, answer.message.includes("db.internal")]).toEqual(["STORE_UNAVAILABLE", false]);
  });

  test("that there was no outcome in time is told as it is", () => {
    const late = new EverstepError("STORE_UNAVAILABLE", "There was no outcome within 12 seconds.");
    expect(told(late).answer).toBe(late);
  });
});

describe("a problem over HTTP", () => {
  test("has a code, a sentence, where it is explained, and details if there are any", async () => {
    const response = problemResponse(new EverstepError("RUN_NOT_FOUND", "There is none."));
    expect([response.status, await response.json()]).toEqual([
      404,
      {
        error: {
          code: "RUN_NOT_FOUND",
          message: "There is none.",
          docs: "node_modules/everstep/docs/errors.md#run_not_found",
        },
      },
    ]);
  });

  test("says when to come back, where that may help", () => {
    const after = (code: "STORE_BUSY" | "EVENT_BUFFER_FULL" | "INVALID_BODY") =>
      problemResponse(new EverstepError(code, "")).headers.get("retry-after");
    expect([after("STORE_BUSY"), after("EVENT_BUFFER_FULL"), after("INVALID_BODY")]).toEqual([
      "1",
      "10",
      null,
    ]);
  });

  test("has a status that says whose it is: a mistake of the caller's unless another is known", () => {
    expect([statusOf("INVALID_DURATION"), statusOf("STORE_CORRUPT"), statusOf("STEP_NOT_FOUND")]).toEqual([
      400, 500, 404,
    ]);
  });

  test("tells the first of many mistakes in words, and at most twenty in all", () => {
    const issues = Array.from({ length: 30 }, (_, n) => ({ path: `a[${n}]`, message: "must be text" }));
    const { message, details } = invalid("The body", issues);
    expect(message).toBe('The body: "a[0]" must be text, and 29 more (see details).');
    expect(details?.issues).toHaveLength(20);
    expect(invalid("The body", [{ path: "", message: "must be an object" }]).message).toBe(
      "The body must be an object.",
    );
  });
});
