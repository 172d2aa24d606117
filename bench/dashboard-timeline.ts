/**
 * How the timeline of an instance with very many steps feels while it goes on: how long frames take when nobody touches it,
 * when somebody scrolls through it or looks closer, and while one step after the other is added.
 * `--steps 1000` unless said. The browser is the one that EVERSTEP_CHROMIUM names.
 */
import { join } from "node:path";
import { parseArgs } from "node:util";
import { allowAll, createWorkflows, defineWorkflow } from "everstep";
import { dashboard } from "everstep/dashboard";
import { serve } from "everstep/node";
import { sqlite } from "everstep/sqlite";
import type { CDPSession, Page } from "playwright-core";
import { launchChromium } from "../scripts/launch-chromium.ts";
import { makeFolder } from "./folder.ts";
import { currentLoad, describeMachine } from "./machine.ts";
import { progressOn } from "./progress.ts";
import { percentile } from "./stats.ts";

const { values } = parseArgs({ options: { steps: { type: "string", default: "1000" } } });
const total = Number(values.steps);
/** Steps that are left for the last measurement. */
const late = 20;
const folder = makeFolder(null);
const machine = describeMachine(folder);
const progress = progressOn(process.stderr);

/** What is done in every frame; `n` counts them. */
const scroll = "scrollBy(0, n < 200 ? 240 : -240)";
const zoom = `document.querySelector(".tl-axis").dispatchEvent(new WheelEvent("wheel", {
  bubbles: true, cancelable: true, ctrlKey: true, deltaY: n % 100 < 50 ? -20 : 20,
  clientX: 700,
}))`;

let letGo = (): void => {};
const held = new Promise<void>((resolve) => {
  letGo = resolve;
});
const long = defineWorkflow({ name: "long" }, async (_event, step) => {
  for (let n = 1; n <= total - late; n++) await step.do(`step ${n}`, () => ({ n }));
  await step.do("hold", () => held);
  for (let n = 1; n < late; n++) {
    await step.do(`late step ${n}`, () => new Promise((resolve) => setTimeout(resolve, 200)));
  }
});
const app = createWorkflows({
  workflows: { long },
  store: sqlite(join(folder, "app.db")),
  authorize: allowAll(),
  http: { dashboard },
  onNotice: () => {},
});

await app.start();
progress.note("steps");
const instance = await app.workflows.long.create({ id: "long" });
while ((await instance.details()).currentStep?.name !== "hold")
  await new Promise((resolve) => setTimeout(resolve, 100));
const served = await serve(app, { port: 0 });
const browser = await launchChromium();
try {
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
  const session = await page.context().newCDPSession(page);
  // The time that it was at work itself, whoever else uses the machine.
  await session.send("Performance.enable", { timeDomain: "threadTicks" });
  await page.goto(new URL("dashboard/instances/long/long", served.url).href);
  await page.locator(".tl-row").first().waitFor();
  const readyMs = (await page.evaluate("performance.now()")) as number;
  const lines = [
    `${total} steps, Node ${machine.node}, ${machine.cores} x ${machine.processor}, ` +
      `load ${machine.loadBefore.toFixed(1)} before; app and browser share it`,
    `first rows after ${readyMs.toFixed(0)} ms`,
    await measure(page, session, "at rest, live", 300, ""),
    await measure(page, session, "scrolled down and up as with a wheel, live", 400, scroll),
    await measure(page, session, "zoomed in and out with the wheel, live", 200, zoom),
    await adding(page, session),
    `load ${currentLoad().toFixed(1)} after`,
  ];
  process.stdout.write(`\n${lines.join("\n")}\n`);
} finally {
  letGo();
  await browser.close();
  await served.close();
  await app.stop({ grace: "1 millisecond" });
}

async function measure(
  page: Page,
  session: CDPSession,
  what: string,
  count: number,
  act: string,
): Promise<string> {
  progress.note(what);
  await page.evaluate(`scrollTo(0, ${act === scroll ? 0 : "document.body.scrollHeight"})`);
  const before = await busyMs(session);
  const { frames, drawnMost } = (await page.evaluate(`new Promise((resolve) => {
    const frames = [];
    let [n, last, drawnMost] = [0, performance.now(), 0];
    const step = (now) => {
      frames.push(now - last);
      last = now;
      if (n % 20 === 0) drawnMost = Math.max(drawnMost, document.querySelectorAll(".tl-row").length);
      if (n++ >= ${count}) return resolve({ frames: frames.slice(1), drawnMost });
      ${act};
      requestAnimationFrame(step);
    };
    requestAnimationFrame(step);
  })`)) as { frames: number[]; drawnMost: number };
  const perFrame = ((await busyMs(session)) - before) / frames.length;
  return `${what}: ${text(frames)}; ${perFrame.toFixed(1)} ms of processor time per frame; at most ${drawnMost} rows drawn`;
}

/** The stream brings all steps again with each that is added. */
async function adding(page: Page, session: CDPSession): Promise<string> {
  progress.note("adding steps");
  const before = await busyMs(session);
  const watching = page.evaluate(`new Promise((resolve) => {
    const frames = [];
    let last = performance.now();
    const step = (now) => {
      frames.push(now - last);
      last = now;
      if (document.querySelector(".status.is-complete")) return resolve(frames.slice(1));
      requestAnimationFrame(step);
    };
    requestAnimationFrame(step);
  })`) as Promise<number[]>;
  letGo();
  const frames = await watching;
  const perFrame = ((await busyMs(session)) - before) / frames.length;
  return `while ${late} steps are added, five per second: ${text(frames)}; ${perFrame.toFixed(1)} ms of processor time per frame`;
}

function text(frames: readonly number[]): string {
  const ms = (value: number): string => `${value.toFixed(1)} ms`;
  return (
    `${frames.length} frames; median ${ms(percentile(frames, 0.5))}, 95th percentile ${ms(percentile(frames, 0.95))}, ` +
    `longest ${ms(Math.max(...frames))}`
  );
}

async function busyMs(session: CDPSession): Promise<number> {
  const { metrics } = await session.send("Performance.getMetrics");
  return (metrics.find(({ name }) => name === "TaskDuration")?.value ?? 0) * 1000;
}
