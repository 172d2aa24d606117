import { defineWorkflow } from "everstep";
import { createTestHarness } from "everstep/testing";
import { expect, test } from "vitest";
import { onEachData, type TakeData } from "./each-data.ts";

const child = defineWorkflow({ name: "child" }, async ({ payload }, step) => {
  const inner = await step.do("work", async ({ idempotencyKey }) => idempotencyKey);
  return [payload, inner];
});

/** Steps in steps, repeated and side by side, and two children, one with an id of its own choosing. */
function family(keys: Map<string, Set<string>>) {
  const note = (name: string, { idempotencyKey }: { readonly idempotencyKey: string }): string => {
    const seen = keys.get(name) ?? new Set();
    keys.set(name, seen.add(idempotencyKey));
    return name;
  };
  return defineWorkflow({ name: "w" }, async ({ instanceId }, step) => {
    const left = step.do("left", async (context) => {
      note("left", context);
      const one = await step.do("inner", async (context) => note("left/inner", context));
      const two = await step.do("inner again", async (context) => {
        note("left/inner again", context);
        return step.do("inner", async (context) => note("left/inner again/inner", context));
      });
      return [one, two];
    });
    const right = step.do("right", async (context) => {
      note("right", context);
      const all: string[] = [];
      for (let n = 0; n < 2; n++) {
        all.push(
          await step.do("inner", { repeat: true }, async (context) => note(`right/inner#${n}`, context)),
        );
      }
      return all;
    });
    const results = await Promise.all([left, right]);
    const named = await step.do("named child", async (context) => {
      note("named child", context);
      return context.startWorkflow(child, { id: `${instanceId}-child`, params: "named" });
    });
    const other = await step.do("other child", async (context) => {
      note("other child", context);
      return context.startWorkflow(child, { params: "other" });
    });
    return { results, named, other };
  });
}

/** A life whose process dies at the n-th commit of the parent; what is there in the end. */
async function life(take: TakeData, place: "before" | "after" | "never", nth: number) {
  const keys = new Map<string, Set<string>>();
  const workflow = family(keys);
  const story = createTestHarness({ workflows: { W: workflow, CHILD: child }, store: take().open });
  await story.workflows.W.create({ id: "i" });
  const doomed = story.runner("doomed");
  let commits = 0;
  const where = (): boolean => ++commits === nth;
  const stop =
    place === "never" ? null : doomed[place === "before" ? "stopBefore" : "stopAfter"]("commit", { where });
  await doomed.tick();
  doomed.kill();
  await story.advance("2 minutes");
  const parent = await story.status({ workflow: "w", id: "i" });
  const { steps } = await story.history({ workflow: "w", id: "i" });
  const { items } = await story.workflows.CHILD.list();
  await story.stop();
  return {
    isOver: stop !== null && !stop.isReached,
    parent,
    paths: steps.map(({ stepKey, parentKey, depth }) => [stepKey, parentKey, depth].join(" ")).toSorted(),
    children: items.map(({ id, output }) => ({ id, output })),
    keys,
  };
}

onEachData("paths", {}, (take) => {
  test("R-040 a crash at any commit changes no step's key, no idempotency key and no child", async () => {
    const calm = await life(take, "never", 0);
    expect(calm.parent.status).toBe("complete");
    expect(calm.paths).toContain("left/inner again/inner left/inner again 2");
    for (const place of ["before", "after"] as const) {
      for (let nth = 1; ; nth++) {
        const { isOver, parent, paths, children, keys } = await life(take, place, nth);
        const where = `${place} commit ${nth}`;
        expect(parent.status, where).toBe("complete");
        expect(parent.output.results, where).toEqual(calm.parent.output.results);
        expect(paths, where).toEqual(calm.paths);
        // What a service is told is the same whichever start of the body tells it.
        expect(keys, where).toEqual(calm.keys);
        const { named, other } = parent.output;
        expect(children.map(({ id }) => id).toSorted(), where).toEqual([named, other].toSorted());
        for (const { id, output } of children) {
          expect(output, where).toEqual([id === named ? "named" : "other", `child/${id}/1/work`]);
        }
        if (isOver) break;
      }
    }
  });
});
