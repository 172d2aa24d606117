/** Reads a timeline as a person sees it: rows by their names, bars by where they are. */
import type { Locator, Page } from "playwright-core";
import type { PageOptions } from "./browser.ts";
import type { Stage } from "./on-each-store.ts";

export async function openTimeline(stage: Stage, path: string, options: PageOptions = {}): Promise<Page> {
  const page = await stage.openPage(options);
  await page.goto(`${stage.served.dashboardUrl}instances/${path}`);
  await page.locator(".tl-row .tl-block").first().waitFor();
  return page;
}

/** The row of the step with exactly this name. */
export function row(page: Page, name: string): Locator {
  return page.locator(".tl-row").filter({ has: page.locator("bdi", { hasText: new RegExp(`^${name}$`) }) });
}

/** What a row says to those who cannot see it. */
export function label(page: Page, name: string): Promise<string | null> {
  return row(page, name).locator(".for-readers").textContent();
}

export function rowNames(page: Page): Promise<readonly string[]> {
  return page
    .locator(".tl-row")
    .evaluateAll((rows) =>
      rows
        .sort((a, b) => a.getBoundingClientRect().top - b.getBoundingClientRect().top)
        .map((each) => each.querySelector("bdi")?.textContent ?? ""),
    );
}

export interface SeenBar {
  readonly kind: string;
  readonly outcome: string;
  readonly left: number;
  readonly width: number;
}

/** What is drawn of a step, in order. */
export function bars(page: Page, name: string): Promise<readonly SeenBar[]> {
  return row(page, name)
    .locator(".tl-block")
    .evaluateAll((blocks) =>
      blocks.map((block) => {
        const { left, width } = block.getBoundingClientRect();
        const part = (prefix: string): string =>
          [...block.classList].find((name) => name.startsWith(prefix))?.slice(2) ?? "";
        return { kind: part("k-"), outcome: part("o-"), left, width };
      }),
    );
}
