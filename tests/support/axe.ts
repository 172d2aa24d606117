/** What axe-core has against the accessibility of a page. */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { AxeResults } from "axe-core";
import type { CDPSession, Page } from "playwright-core";

const source = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** One line for each element that breaks a rule; none if all is well. */
export async function axe(
  page: Page,
  options: { readonly tags?: readonly string[] } = {},
): Promise<string[]> {
  const session = await page.context().newCDPSession(page);
  try {
    const evaluate = await inWorldOfItsOwn(session);
    await evaluate(source);
    const runOnly = options.tags && { runOnly: { type: "tag", values: options.tags } };
    const settings = { resultTypes: ["violations"], ...runOnly };
    const results = await evaluate(`axe.run(document, ${JSON.stringify(settings)}).then(JSON.stringify)`);
    return (JSON.parse(String(results)) as AxeResults).violations.flatMap(linesOf);
  } finally {
    await session.detach();
  }
}

// The page's content security policy lets no script in, as it should. A world apart shares the document, but neither that
// policy nor the page's variables.
async function inWorldOfItsOwn(session: CDPSession): Promise<(expression: string) => Promise<unknown>> {
  const { frameTree } = await session.send("Page.getFrameTree");
  const world = { frameId: frameTree.frame.id, worldName: "axe" };
  const { executionContextId: contextId } = await session.send("Page.createIsolatedWorld", world);
  return async (expression) => {
    const request = { expression, contextId, awaitPromise: true, returnByValue: true };
    const { result, exceptionDetails } = await session.send("Runtime.evaluate", request);
    if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
    return result.value;
  };
}

function linesOf({ id, impact, help, nodes }: AxeResults["violations"][number]): string[] {
  return nodes.map(({ target, failureSummary = "" }) => {
    const why = failureSummary
      .split("\n")
      .slice(1)
      .map((line) => line.trim())
      .join("; ");
    return `${id} (${impact}): ${help}: ${target.join(" ")}: ${why}`;
  });
}
