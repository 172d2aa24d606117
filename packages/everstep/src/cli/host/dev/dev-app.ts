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
  /** The app's own hooks decide who may use it; else the token of this start does. */
  readonly asksItself: boolean;
  /** null where it is not built. */
  readonly dashboard: Dashboard | null;
}

export interface DevAppSettings {
  /** Where workflows without an app are kept. */
  readonly storePath: string;
  /** The app's own hooks are left out. */
  readonly skipsAuthorize: boolean;
  readonly onProblem: (problem: string) => void;
}

/** Nothing is opened by it. */
export async function devApp(
  file: string,
  { app, workflows }: Exported,
  { storePath, skipsAuthorize, onProblem }: DevAppSettings,
): Promise<DevApp> {
  const [library, dashboard] = await Promise.all([libraryOf(file), ownDashboard()]);
  if (app) return { app, storePath: null, library, asksItself: !app.isClosed && !skipsAuthorize, dashboard };
  const made = library.createWorkflows({
    workflows,
    store: library.sqlite(storePath),
    // Every failed attempt has its line already.
    onNotice: () => {},
    onProblem: (problem) => onProblem(problem instanceof Error ? problem.message : String(problem)),
  });
  return { app: made as unknown as App, storePath, library, asksItself: false, dashboard };
}
