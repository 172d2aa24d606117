/** Tests of the dashboard on the stores they are made for, with one app for all of a file's tests on a store. */
import { afterAll, beforeAll } from "vitest";
import { describeBrowser, type TestBrowser } from "./browser.ts";
import { type DashboardApp, type DashboardAppOptions, hasStore, openDashboardApp } from "./dashboard-app.ts";

export interface Stage extends TestBrowser {
  readonly store: "sqlite" | "postgres";
  /** The app; there once the tests run. */
  readonly served: DashboardApp;
}

export function onEachStore(
  title: string,
  options: DashboardAppOptions & { readonly seed?: (served: DashboardApp) => Promise<unknown> },
  tests: (stage: Stage) => void,
): void {
  const { seed, ...appOptions } = options;
  for (const store of (["sqlite", "postgres"] as const).filter(hasStore)) {
    describeBrowser(`${title} (${store})`, (browser) => {
      let served: DashboardApp | undefined;
      beforeAll(async () => {
        served = await openDashboardApp({ ...appOptions, store });
        await seed?.(served);
      }, 60_000);
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
