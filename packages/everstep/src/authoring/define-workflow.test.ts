import { describe, expect, expectTypeOf, test } from "vitest";
import { defineWorkflow, type WorkflowDefinition } from "./define-workflow.ts";
import type { StandardSchema } from "./standard-schema.ts";
import type { OutgoingEvent, ReceivedEvent, WorkflowEvent, WorkflowStep } from "./workflow-step.ts";
import type { TypesOf } from "./workflow-types.ts";

describe("the types of a definition", () => {
  test("come from its schemas: what goes in for callers, what comes out for the workflow", () => {
    const order = defineWorkflow(
      {
        name: "order",
        params: schema<{ amount: string }, { amount: number }>(),
        output: schema<{ ok: boolean }, { ok: "yes" | "no" }>(),
        events: { approved: schema<{ by: string }, { by: URL }>(), cancelled: schema<undefined>() },
      },
      async (event, step) => {
        expectTypeOf(event.payload).toEqualTypeOf<Readonly<{ amount: number }>>();
        const approved = await step.waitForEvent("approval", { type: "approved" });
        expectTypeOf(approved).toEqualTypeOf<ReceivedEvent<{ by: URL }, "approved">>();
        const posted = await step.waitForEvent<{ text: string }>("news", { topic: "news" });
        expectTypeOf(posted.payload.text).toEqualTypeOf<string>();
        // @ts-expect-error not declared
        await step.waitForEvent("approval", { type: "aproved" });
        // @ts-expect-error what comes is what the schema says
        await step.waitForEvent<{ by: string }>("approval", { type: "approved" });
        return { ok: true };
      },
    );
    type Types = TypesOf<typeof order>;
    expectTypeOf<Types["params"]>().toEqualTypeOf<{ amount: string }>();
    expectTypeOf<Types["output"]>().toEqualTypeOf<{ ok: "yes" | "no" }>();
    expectTypeOf<Types["name"]>().toEqualTypeOf<"order">();
    expectTypeOf(order.name).toEqualTypeOf<"order">();
    type Event = OutgoingEvent<Types["events"]>;
    const events: Event[] = [
      { type: "approved", payload: { by: "ann" } },
      { type: "cancelled" },
      // @ts-expect-error the payload has another type
      { type: "approved", payload: { by: 7 } },
      // @ts-expect-error it needs a payload
      { type: "approved" },
      // @ts-expect-error not declared
      { type: "rejected" },
    ];
    expect(events).toHaveLength(5);
    const any: WorkflowDefinition = order;
    expect(any.name).toBe("order");
  });

  test("come from the function where there are no schemas", () => {
    const order = defineWorkflow({ name: "order" }, async (event: WorkflowEvent<{ n: number }>, step) => {
      const note = await step.waitForEvent<{ by: string }>("note", { type: "note" });
      expectTypeOf(note.payload.by).toEqualTypeOf<string>();
      const free = await step.waitForEvent("note", { type: "note" });
      expectTypeOf(free).toEqualTypeOf<ReceivedEvent>();
      return step.do("double", async () => event.payload.n * 2);
    });
    expectTypeOf(order).toEqualTypeOf<WorkflowDefinition<{ n: number }, number, any, "order">>();
    expectTypeOf<OutgoingEvent<TypesOf<typeof order>["events"]>["type"]>().toEqualTypeOf<string>();
    const free = defineWorkflow({ name: "free" }, async () => {});
    expectTypeOf(free).toEqualTypeOf<WorkflowDefinition<any, void, any, "free">>();
  });

  test("hold the function to them", () => {
    const options = { name: "order", output: schema<{ ok: boolean }>() } as const;
    defineWorkflow(options, async () => ({ ok: true }));
    // @ts-expect-error not what the output schema takes
    defineWorkflow(options, async () => ({ ok: "yes" }));
    const params = schema<{ n: number }>();
    // @ts-expect-error not what the params schema gives
    defineWorkflow({ name: "order", params }, async (event: WorkflowEvent<{ n: string }>) => event.payload.n);
  });

  test("let a step be passed on to functions that know nothing of its events", () => {
    const helper = async (step: WorkflowStep): Promise<number> => step.do("help", async () => 1);
    const own = async (step: WorkflowStep<{ approved: { by: string } }>): Promise<string> =>
      (await step.waitForEvent("approval", { type: "approved" })).payload.by;
    const events = { approved: schema<{ by: string }>() };
    defineWorkflow({ name: "order", events }, async (_event, step) => [await helper(step), await own(step)]);
  });
});

describe("events of a definition", () => {
  test("are an object of schemas", () => {
    const define = (events: unknown) => () =>
      defineWorkflow({ name: "w", events: events as never }, () => {});
    expect(define({ approved: schema() })).not.toThrow();
    expect(define([schema()])).toThrow("must be an object of schemas by event type");
    expect(define({ approved: {} })).toThrow('events.approved of workflow "w" is not a schema');
    expect(define({ "": schema() })).toThrow("event type");
  });
});

function schema<Input = unknown, Output = Input>(): StandardSchema<Input, Output> {
  return {
    "~standard": { version: 1, vendor: "test", validate: (value) => ({ value: value as Output }) },
  };
}
