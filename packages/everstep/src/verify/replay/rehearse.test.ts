import { describe, expect, test } from "vitest";
import { completed, waiting } from "../../../../../tests/support/sample-records.ts";
import { encodeValue } from "../../authoring/codec.ts";
import { buildDefinition, type WorkflowOptions } from "../../authoring/define-workflow.ts";
import type { WorkflowStep } from "../../authoring/workflow-step.ts";
import type { TurnScope } from "../../engine/turn-host.ts";
import type { StepRecord } from "../../model/step.ts";
import { systemRuntime } from "../../system-runtime.ts";
import { createFakeRuntime } from "../../testing/fake-runtime.ts";
import type { RecordedRun } from "./recorded-run.ts";
import { rehearse } from "./rehearse.ts";

type Code = (step: WorkflowStep) => unknown;

function recorded(steps: readonly StepRecord[], facts: Partial<RecordedRun> = {}): RecordedRun {
  const identity = { workflowName: "w", instanceId: "i", runNumber: 1, status: "waiting" } as const;
  const nothing = { begun: [], output: null, error: null };
  return { ...identity, params: encodeValue({}, "params"), createdAt: 0, steps, ...nothing, ...facts };
}

async function rehearsalOf(
  code: Code,
  run: RecordedRun,
  options: Partial<WorkflowOptions> & { readonly runtime?: typeof systemRuntime } = {},
) {
  const { runtime = createFakeRuntime(), ...others } = options;
  const definition = buildDefinition(
    { name: "w", ...others },
    async (_event, step) => code(step),
    "everstep",
  );
  const scope = runtime.createScope<TurnScope>();
  const { asked, rest } = await rehearse(run, definition, { runtime, scope, patienceMs: 200 });
  return { asked: asked.map(({ stepKey }) => stepKey), rest, moved: asked.filter((each) => each.cameAfter) };
}

const a = completed({ key: "a", index: 0 });
const b = completed({ key: "b", index: 1 });
const nap = waiting({ key: "nap", index: 2 });
const never = new Promise<never>(() => {});

describe("code that is held against a record", () => {
  test("comes to rest where nothing is recorded", async () => {
    const code: Code = async (step) => {
      await step.do("a", async () => {});
      await step.do("new", async () => {});
    };
    expect(await rehearsalOf(code, recorded([a]))).toMatchObject({
      asked: ["a", "new"],
      rest: { kind: "open" },
    });
  });

  test("ends if it returns or throws", async () => {
    expect((await rehearsalOf((step) => step.do("a", async () => {}), recorded([a]))).rest).toMatchObject({
      kind: "ended",
      outcome: { kind: "complete", output: { json: '"a"' } },
    });
    const throws = async (): Promise<never> => {
      throw new TypeError("no");
    };
    expect((await rehearsalOf(throws, recorded([a]))).rest).toMatchObject({
      kind: "ended",
      outcome: { kind: "error", error: { name: "TypeError" } },
    });
  });

  test("is not ended by the limits of its time", async () => {
    const limits = { maxRunDuration: "1 second", maxSuspendDuration: "1 second" };
    const code: Code = (step) => step.sleep("nap", "1 hour");
    expect((await rehearsalOf(code, recorded([nap]), limits)).rest).toEqual({ kind: "open" });
  });

  test("is stuck if it awaits something that is no step", async () => {
    const code: Code = async (step) => {
      await step.do("a", async () => {});
      await never;
    };
    expect((await rehearsalOf(code, recorded([a]))).rest).toEqual({ kind: "stuck" });
    expect((await rehearsalOf(code, recorded([a]), { runtime: systemRuntime })).rest).toEqual({
      kind: "stuck",
    });
  });

  test.each<[string, Code]>([
    ["log lines", (step) => forEver(() => step.log.info("again"))],
    ["a step that is refused", (step) => forEver(() => step.sleep("a", -1).catch(() => {}))],
    ["turns of the event loop", () => forEver(() => new Promise((resolve) => setImmediate(resolve)))],
  ])("is stuck in an endless loop over %s", async (_what, code) => {
    expect((await rehearsalOf(code, recorded([a]))).rest).toEqual({ kind: "stuck" });
  });

  test("may be busy with something quick between two steps", async () => {
    const code: Code = async (step) => {
      await step.do("a", async () => {});
      await crypto.subtle.digest("SHA-256", new Uint8Array(1024));
      await step.do("b", async () => {});
      await step.sleep("nap", "1 hour");
    };
    for (const runtime of [createFakeRuntime(), systemRuntime]) {
      const { asked, rest } = await rehearsalOf(code, recorded([a, b, nap]), { runtime });
      expect([asked, rest]).toEqual([["a", "b", "nap"], { kind: "open" }]);
    }
  });

  test("may be busy with something quick while another branch waits", async () => {
    const code: Code = async (step) => {
      const waits = step.sleep("nap", "1 hour");
      await crypto.subtle.digest("SHA-256", new Uint8Array(1024));
      await step.do("a", async () => {});
      await crypto.subtle.digest("SHA-256", new Uint8Array(1024));
      await step.do("b", async () => {});
      await waits;
    };
    for (const runtime of [createFakeRuntime(), systemRuntime]) {
      const { asked, rest } = await rehearsalOf(code, recorded([nap, a, b]), { runtime });
      expect([asked, rest]).toEqual([["nap", "a", "b"], { kind: "open" }]);
    }
  });

  test("cannot be held against what nobody can read", async () => {
    const broken = { json: "{", marks: null };
    const code: Code = (step) => step.do("a", async () => {});
    const results = [
      await rehearsalOf(code, recorded([a], { params: broken })),
      await rehearsalOf(code, recorded([{ ...a, result: broken }])),
    ];
    expect(results.map(({ rest }) => rest.kind)).toEqual(["unreadable", "unreadable"]);
  });

  test("leaves no timer behind", async () => {
    const runtime = createFakeRuntime();
    for (const code of [(step: WorkflowStep) => step.sleep("nap", "1 hour"), () => never]) {
      await rehearsalOf(code, recorded([nap]), { runtime });
    }
    await runtime.settle();
    expect(runtime.nextTimerAt()).toBeNull();
  });
});

describe("the order of steps", () => {
  test("is another one if a step comes after one that was recorded later", async () => {
    const code: Code = async (step) => {
      await step.do("b", async () => {});
      await step.do("a", async () => {});
    };
    const { moved } = await rehearsalOf(code, recorded([a, b]));
    expect(moved).toMatchObject([{ stepKey: "a", cameAfter: "b" }]);
  });

  test("of steps that were open at the same time does not matter", async () => {
    // After a crash the one that had not completed is recorded anew, behind the other.
    const first = completed({ key: "first", index: 2, settledIndex: 1 });
    const second = completed({ key: "second", index: 1, settledIndex: 0 });
    const last = completed({ key: "last", index: 3, settledIndex: 2 });
    const code: Code = async (step) => {
      await Promise.all([step.do("first", async () => {}), step.do("second", async () => {})]);
      await step.do("last", async () => {});
    };
    expect((await rehearsalOf(code, recorded([second, first, last]))).moved).toEqual([]);
  });
});

async function forEver(act: () => Promise<unknown>): Promise<never> {
  for (;;) await act();
}
