/** Tests of the dashboard on the stores they are made for, with one app for all of a file's tests on a store. */
import { afterAll, beforeAll } from "vitest";
import { describeBrowser, type TestBrowser } from "./browser.ts";
import { type DashboardApp, type DashboardAppOptions, hasStore, openDashboardApp } from "./dashboard-app.ts";

export interface Stage extends TestBrowser {
  readonly store: "sqlite" | "postgres";
  /** The app; there once the tests run. */
  readonly served: DashboardApp;
}

export interface StageOptions extends Omit<DashboardAppOptions, "store"> {
  readonly seed?: (served: DashboardApp) => Promise<unknown>;
  /** What is tested is done by the page alone, whatever the store: once is enough. */
  readonly isOfThePage?: boolean;
}

export function onEachStore(title: string, options: StageOptions, tests: (stage: Stage) => void): void {
  const { seed, isOfThePage = false, ...appOptions } = options;
  const stores = isOfThePage ? (["sqlite"] as const) : (["sqlite", "postgres"] as const);
  for (const store of stores.filter(hasStore)) {
    describeBrowser(`${title} (${store})`, (browser) => {
      let served: DashboardApp | undefined;
      beforeAll(async () => {
        served = await openDashboardApp({ ...appOptions, store });
        await seed?.(served);
      });
      afterAll(() => served?.close());
      tests({
        ...browser,
        store,
        get served() {
          if (!served) throw new Error("The app is there only while tests run.");
          return served;
        },
      });
    });
  }
}
