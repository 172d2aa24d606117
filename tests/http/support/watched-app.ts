/** An app on a memory store that tells what was asked of it, and whether anything in it has changed. */
import { type Authorize, createHandler, createWorkflows, type HttpOptions } from "everstep";
import { createFakeRuntime, createFaultyStore, createMemoryDatabase, memory } from "everstep/testing";
import { canonical } from "./canonical.ts";
import { everyRoute } from "./sample-requests.ts";
import { workflows } from "./workflows.ts";

export function createWatched(options: { readonly authorize?: Authorize; readonly http?: HttpOptions } = {}) {
  const database = createMemoryDatabase();
  const store = createFaultyStore(memory({ database }));
  const runtime = createFakeRuntime();
  const problems: unknown[] = [];
  let calls = 0;
  store.plan(() => {
    calls += 1;
    return null;
  });
  const app = createWorkflows({
    workflows,
    store,
    runtime,
    ...options,
    onProblem: (problem) => problems.push(problem),
    onNotice: () => {},
  });
  return {
    app,
    /** Another process on the same data. */
    other: () => createWorkflows({ workflows, store: memory({ database }), runtime, onNotice: () => {} }),
    store,
    runtime,
    problems,
    /** How often the store was asked, for whatever it was. */
    calls: () => calls,
    /** Everything that is kept. */
    contents() {
      const { runs, workflows: byName, eventIds, topics, publications } = database;
      // Which workflows have been looked for is nothing that is kept.
      const kept = [...byName].flatMap(([name, { instances }]) => [...instances].map((each) => [name, each]));
      return canonical([runs, kept, eventIds, topics, publications]);
    },
    /** The same app behind other hooks. */
    behind: (authorize: Authorize | undefined, http: HttpOptions = everyRoute) =>
      createHandler(app, { ...http, ...(authorize ? { authorize } : {}) }),
  };
}
