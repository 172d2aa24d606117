import { expect, test } from "vitest";
import { defineWorkflow } from "../authoring/define-workflow.ts";
import type { Store } from "../store/store.ts";
import { memory } from "../stores/memory/index.ts";
import { createFakeRuntime } from "../testing/fake-runtime.ts";
import { storeFailure } from "../testing/faulty-store.ts";
import { createWorkflows } from "./create-workflows.ts";

/** Like a server whose time counts, and whose first answer is lost. */
function timed(store: Store, now: () => number): Store {
  let asked = 0;
  const serverTime = async (): Promise<number> => {
    if (asked++ === 0) {
      // The question is on its way for a moment, so all of them wait for it.
      await new Promise((resolve) => setImmediate(resolve));
      throw storeFailure("unavailable");
    }
    return now();
  };
  return new Proxy(store, {
    get(target, name) {
      if (name === "serverTime") return serverTime;
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}

test("all calls go on that waited for the time, once one of them has got it", async () => {
  const runtime = createFakeRuntime();
  const store = timed(memory(), () => runtime.now());
  const workflow = defineWorkflow({ name: "w" }, async () => "done");
  const app = createWorkflows({
    workflows: { W: workflow },
    store,
    runtime: { ...runtime, followsStore: true },
    onProblem: () => {},
  });
  await app.migrate();
  const created: string[] = [];
  const failed: unknown[] = [];
  for (let n = 0; n < 20; n++) {
    app.workflows.W.create({ id: `i${n}` }).then(
      ({ id }) => created.push(id),
      (failure) => failed.push(failure),
    );
  }
  await runtime.advance("2 seconds");
  expect([created.length, failed]).toEqual([20, []]);
});
