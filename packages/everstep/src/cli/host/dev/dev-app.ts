/** What `everstep dev` runs: the app that the file exports, or one made around its workflows. */
import type { App, Dashboard } from "../../../index.ts";
import { ownDashboard } from "../own-dashboard.ts";
import type { Exported } from "../user-file/exported.ts";
import { type Library, libraryOf } from "../user-file/library.ts";

export interface DevApp {
  readonly app: App;
  /** null where the app has a store of its own. */
  readonly storePath: string | null;
  readonly library: Library;
  /** null where it is not built. */
  readonly dashboard: Dashboard | null;
}

/** Nothing is opened by it. */
export async function devApp(
  file: string,
  { app, workflows }: Exported,
  storePath: string,
  onProblem: (problem: string) => void,
): Promise<DevApp> {
  const [library, dashboard] = await Promise.all([libraryOf(file), ownDashboard()]);
  if (app) return { app, storePath: null, library, dashboard };
  const made = library.createWorkflows({
    workflows,
    store: library.sqlite(storePath),
    // Every failed attempt has its line already.
    onNotice: () => {},
    onProblem: (problem) => onProblem(problem instanceof Error ? problem.message : String(problem)),
  });
  return { app: made as unknown as App, storePath, library, dashboard };
}
