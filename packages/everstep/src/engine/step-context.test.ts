import { expect, test } from "vitest";
import { stagesOn } from "../../../../tests/support/turn-stage.ts";
import type { StepContext } from "../authoring/workflow-step.ts";
import { createFakeRuntime } from "../testing/fake-runtime.ts";

const stageOf = stagesOn(createFakeRuntime);

async function contextOfABody(): Promise<StepContext> {
  let found: StepContext | undefined;
  const stage = stageOf((step) =>
    step.do("charge", async (context) => {
      found = context;
    }),
  );
  await stage.play();
  return found as StepContext;
}

const members = [
  "attempt",
  "config",
  "idempotencyKey",
  "mutate",
  "onTerminalError",
  "sendEvent",
  "serviceCalls",
  "signal",
  "startWorkflow",
  "step",
];

test("members of a context are its own: a copy has them all, and they work", async () => {
  const context = await contextOfABody();
  expect(Object.keys(context).sort()).toEqual(members);
  expect(Object.hasOwn(context, "signal")).toBe(true);
  const copy = { ...context };
  expect(Object.keys(copy).sort()).toEqual(members);
  expect(copy.signal).toBe(context.signal);
  expect(copy.idempotencyKey).toBe("story/one/1/charge");
  expect(() => copy.mutate("no function" as never)).toThrow("takes a function");
  const { step, ...rest } = context;
  expect([step.name, rest.signal]).toEqual(["charge", context.signal]);
});

test("what is added to a context stays, and what can be changed changes", async () => {
  const context = (await contextOfABody()) as StepContext & { user?: string };
  context.user = "ann";
  expect({ ...context }).toMatchObject({ user: "ann", attempt: 1 });
});

test("the JSON of a context is what Cloudflare's has", async () => {
  const context = await contextOfABody();
  expect(Object.keys(JSON.parse(JSON.stringify(context)))).toEqual(["step", "attempt", "config"]);
});

test("what comes when the step is over is refused: nothing could be written with it any more", async () => {
  const context = await contextOfABody();
  const late: Record<string, () => unknown> = {
    mutate: () => context.mutate(() => {}),
    serviceCalls: () => context.serviceCalls(() => []),
    "onTerminalError.mutate": () => context.onTerminalError.mutate(() => {}),
    sendEvent: () => context.sendEvent({ workflow: "story", id: "two" }, { type: "t" }),
    startWorkflow: () => context.startWorkflow("story"),
  };
  for (const [what, act] of Object.entries(late)) {
    expect(act, what).toThrow(`${what} was called when step "charge" was over, so nothing came of it.`);
    expect(act, what).toThrow(expect.objectContaining({ code: "STEP_INTERRUPTED" }));
  }
});
