/** A cursor is a place in one list. Whatever else is passed as one is refused, and shows nothing of another list. */
import { defineWorkflow, type WorkflowHandle } from "everstep";
import type { TestHarness } from "everstep/testing";
import { expect, test } from "vitest";
import { onEachStore, type Tell } from "../scenarios/each-store.ts";

const digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

const busy = (name: string) =>
  defineWorkflow({ name }, async (_event, step) => {
    for (let n = 0; n < 3; n++) {
      await step.log.info(`line ${n}`);
      await step.do(`step ${n}`, async () => n);
    }
    await step.waitForEvent("wait", { topic: "news", timeout: "1 day" });
  });

type Story = TestHarness<{ ONE: ReturnType<typeof busy>; OTHER: ReturnType<typeof busy> }>;

async function tellLists(tell: Tell): Promise<Story> {
  const story = tell({ ONE: busy("one"), OTHER: busy("other") });
  for (const handle of Object.values(story.workflows) as WorkflowHandle[])
    for (const id of ["a", "b", "c"]) {
      const instance = await handle.create({ id });
      await instance.sendEvent({ type: "unasked", payload: 1 });
      await instance.sendEvent({ type: "unasked", payload: 2 });
    }
  await story.runUntilIdle();
  return story;
}

/** What a list gives for a cursor: the names of its entries and where it goes on. */
type List = (
  cursor?: string,
) => Promise<{ readonly found: readonly string[]; readonly cursor?: string | undefined }>;

async function listsOf(story: Story): Promise<Record<string, List>> {
  const one = await story.workflows.ONE.get("a");
  const page = (cursor?: string) => ({ pageSize: 1, ...(cursor === undefined ? {} : { cursor }) });
  return {
    "instances of one": async (given) => {
      const { items, cursor } = await story.workflows.ONE.list(page(given));
      return { found: items.map(({ workflowName, id }) => `${workflowName}/${id}`), cursor };
    },
    "instances of the other": async (given) => {
      const { items, cursor } = await story.workflows.OTHER.list(page(given));
      return { found: items.map(({ workflowName, id }) => `${workflowName}/${id}`), cursor };
    },
    steps: async (given) => {
      const { steps, stepsCursor } = await one.history({
        pageSize: 1,
        ...(given === undefined ? {} : { stepsCursor: given }),
      });
      return { found: steps.map(({ stepKey }) => stepKey), cursor: stepsCursor };
    },
    events: async (given) => {
      const options = given === undefined ? {} : { eventsCursor: given };
      const { events, eventsCursor } = await one.history({ pageSize: 1, ...options });
      return { found: events.map(({ payload }) => String(payload)), cursor: eventsCursor };
    },
    logs: async (given) => {
      const { items, cursor } = await one.logs(page(given));
      return { found: items.map(({ message }) => message), cursor };
    },
    waiters: async (given) => {
      const { items, cursor } = await story.app.waiters("news", page(given));
      return { found: items.map(({ workflowName, instanceId }) => `${workflowName}/${instanceId}`), cursor };
    },
  };
}

async function everythingIn(list: List): Promise<string[]> {
  const all: string[] = [];
  let cursor: string | undefined;
  do {
    const page = await list(cursor);
    all.push(...page.found);
    cursor = page.cursor;
  } while (cursor !== undefined);
  return all;
}

onEachStore("cursors", (tell) => {
  test("SEC-20 a cursor that was changed in any place gives a part of its own list, or is refused as one", async () => {
    const story = await tellLists(tell);
    for (const [name, list] of Object.entries(await listsOf(story))) {
      const { cursor = "" } = await list();
      expect(cursor, name).not.toBe("");
      const own = await everythingIn(list);
      let refused = 0;
      for (let at = 0; at < cursor.length; at++) {
        // One bit, and the next digit: what a slip of the finger or a guess would make of it.
        const digit = digits.indexOf(cursor[at] ?? "");
        for (const other of [digit ^ 1, (digit + 1) % 64, digit ^ 32]) {
          const changed = cursor.slice(0, at) + digits[other] + cursor.slice(at + 1);
          const answer = await list(changed).then(
            ({ found }) => found,
            ({ code }) => code,
          );
          if (typeof answer === "string") {
            expect(answer, `${name} ${changed}`).toBe("INVALID_CURSOR");
            refused++;
          } else for (const entry of answer) expect(own, `${name} ${changed}`).toContain(entry);
        }
      }
      expect(refused, name).toBeGreaterThan(cursor.length);
    }
  });

  test("SEC-20 a cursor of another list is refused", async () => {
    const story = await tellLists(tell);
    const lists = Object.entries(await listsOf(story));
    for (const [name, list] of lists) {
      const { cursor } = await list();
      for (const [other, otherList] of lists) {
        if (other === name) continue;
        await expect(otherList(cursor), `${name} for ${other}`).rejects.toMatchObject({
          code: "INVALID_CURSOR",
        });
      }
    }
    const { cursor } = await story.app.waiters("news", { pageSize: 1 });
    await expect(story.app.waiters("other.news", { cursor })).rejects.toMatchObject({
      code: "INVALID_CURSOR",
    });
  });

  test("SEC-20 a cursor of another instance shows nothing of that instance", async () => {
    const story = await tellLists(tell);
    const [one, other] = [await story.workflows.ONE.get("a"), await story.workflows.OTHER.get("b")];
    const { stepsCursor, eventsCursor } = await other.history({ pageSize: 1 });
    const own = await one.history();
    const seen = await one
      .history({ stepsCursor: stepsCursor as string, eventsCursor: eventsCursor as string })
      .catch(() => own);
    for (const step of seen.steps) expect(own.steps).toContainEqual(step);
    for (const event of seen.events) expect(own.events).toContainEqual(event);
  });
});
