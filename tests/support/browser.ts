/**
 * Real Chromium for tests: one per process, which takes many files after each other; one context per page. A page that complains fails its test: an error in the
 * console, an uncaught error, a breach of the content security policy, or a request to another origin.
 */

import type { Browser, BrowserContext, BrowserContextOptions, Page } from "playwright-core";
import { afterEach, describe } from "vitest";
import { launchChromium } from "../../scripts/launch-chromium.ts";

export { axe } from "./axe.ts";

const program = process.env.EVERSTEP_CHROMIUM;
const screenshots = new URL("../../test-artifacts/screenshots/", import.meta.url);

export interface PageOptions {
  readonly width?: number;
  readonly height?: number;
  readonly colorScheme?: "light" | "dark";
  /** "reduce" unless said: what moves is seen differently each time. */
  readonly reducedMotion?: "reduce" | "no-preference";
  /** What this page may complain of, because the test provokes it. */
  readonly mayComplain?: readonly RegExp[];
  readonly context?: BrowserContextOptions;
}

export interface TestBrowser {
  openPage(options?: PageOptions): Promise<Page>;
  /** What the pages of this test have complained of so far; it is then no reason to fail any more. */
  takeComplaints(): readonly string[];
}

/** Tests with a browser. Without one they are skipped, loudly; where nobody would read that, they fail. */
export function describeBrowser(title: string, tests: (browser: TestBrowser) => void): void {
  const isRequired = !["", "0", "false"].includes(process.env.CI ?? "");
  if (!program && !isRequired)
    console.warn(`SKIPPED: ${title}, because EVERSTEP_CHROMIUM is not set (npm test finds or installs one)`);
  describe.runIf(program || isRequired)(title, () => {
    const { browser, closePages } = createBrowser();
    tests(browser);
    // What is registered last is done first: pages are closed before the servers that they use.
    afterEach(closePages);
  });
}

/** Ends with its process: it reads its orders from a pipe. Should it end before, the next page has a new one. */
let launched: Promise<Browser> | undefined;

function theBrowser(): Promise<Browser> {
  const forget = (): void => {
    launched = undefined;
  };
  launched ??= launchChromium().then((browser) => browser.on("disconnected", forget));
  launched.catch(forget);
  return launched;
}

function createBrowser() {
  let contexts: BrowserContext[] = [];
  let complaints: string[] = [];

  const browser: TestBrowser = {
    takeComplaints: () => complaints.splice(0),
    async openPage(options = {}) {
      const context = await (await theBrowser()).newContext(contextOptions(options));
      // Before the test itself is given up, so that it says what it waited for.
      context.setDefaultTimeout(60_000);
      contexts.push(context);
      const mayComplain = options.mayComplain ?? [];
      const heard = complaints;
      await watch(context, (complaint) => {
        if (!mayComplain.some((pattern) => pattern.test(complaint))) heard.push(complaint);
      });
      return context.newPage();
    },
  };
  const closePages = async (): Promise<void> => {
    await Promise.all(contexts.flatMap((context) => context.pages()).map(hearOut));
    const [opened, heard] = [contexts, [...complaints]];
    [contexts, complaints] = [[], []];
    for (const context of opened) await context.close();
    if (heard.length > 0) throw new Error(`The page complained:\n${heard.join("\n")}`);
  };
  return { browser, closePages };
}

/** What a page has said comes before what it answers. */
async function hearOut(page: Page): Promise<void> {
  await page.evaluate("0").catch(() => {});
}

function contextOptions(options: PageOptions): BrowserContextOptions {
  const { width = 1280, height = 800, colorScheme = "light", reducedMotion = "reduce", context } = options;
  const place = { locale: "en-US", timezoneId: "UTC" };
  return { viewport: { width, height }, colorScheme, reducedMotion, ...place, ...context };
}

async function watch(context: BrowserContext, complain: (complaint: string) => void): Promise<void> {
  const origins = new Set<string>();
  context.on("weberror", (uncaught) => complain(`uncaught: ${uncaught.error().stack ?? uncaught.error()}`));
  context.on("console", (message) => {
    if (message.type() === "error") complain(`console: ${message.text()} (${message.location().url})`);
  });
  context.on("page", (page) => page.on("crash", () => complain(`crash: ${page.url()}`)));
  context.on("request", (request) => {
    const url = new URL(request.url());
    if (url.protocol === "data:" || url.protocol === "blob:") return;
    if (origins.size === 0) origins.add(url.origin);
    if (!origins.has(url.origin)) complain(`another origin: ${request.url()}`);
  });
  // Chromium tells of most breaches itself; those that are only reported it does not.
  await context.addInitScript(`addEventListener("securitypolicyviolation", (event) => console.error(
    "content security policy:", event.effectiveDirective, event.blockedURI, event.sample, event.sourceFile));`);
}

/** Writes test-artifacts/screenshots/<name>.png, for people to look at. */
export async function shot(
  page: Page,
  name: string,
  options: { readonly fullPage?: boolean } = {},
): Promise<void> {
  const path = new URL(`${name}.png`, screenshots).pathname;
  await page.screenshot({ path, fullPage: options.fullPage ?? false, animations: "disabled" });
}
