/** Whether a page has become something else through what it shows. */
import type { Page } from "playwright-core";

/** All that is folded, and a hand over everything: some texts wait for that. */
export async function openEverything(page: Page): Promise<void> {
  await page.evaluate(`(async () => {
    for (let round = 0; round < 4; round++) {
      for (const fold of document.querySelectorAll("main button[aria-expanded=false]")) fold.click();
      await new Promise(requestAnimationFrame);
    }
    for (const element of document.querySelectorAll("main *")) {
      element.dispatchEvent(new MouseEvent("mouseover", { bubbles: true }));
    }
    await new Promise(requestAnimationFrame);
  })()`);
}

/** Elements that the page itself never makes, and links to anywhere but itself. */
export function foreignElements(page: Page): Promise<string[]> {
  return page.evaluate(`[
    ...document.querySelectorAll("#root script, #root img, #root iframe, #root base, #root link, #root meta, #root style, #root object, [onload], [onerror], [onmouseover], [onfocus], [srcdoc]"),
    ...[...document.querySelectorAll("#root a")].filter((link) => link.origin !== location.origin),
  ].map((element) => element.outerHTML.slice(0, 200))`);
}
