/**
 * How the dashboard's list of instances feels with very many of them: what the first load brings and how soon rows are
 * there, and how long frames take while somebody scrolls through everything, first loading it and then once it is loaded.
 * `--instances 100000` unless said. The browser is the one that EVERSTEP_CHROMIUM names.
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

const { values } = parseArgs({ options: { instances: { type: "string", default: "100000" } } });
const total = Number(values.instances);
const folder = makeFolder(null);
const machine = describeMachine(folder);
const progress = progressOn(process.stderr);
const quick = defineWorkflow({ name: "quick" }, async ({ payload }) => payload);
const app = createWorkflows({
  workflows: { quick },
  store: sqlite(join(folder, "app.db")),
  authorize: allowAll(),
  http: { dashboard },
  onNotice: () => {},
});

await seed();
const served = await serve(app, { port: 0 });
const browser = await launchChromium();
try {
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
  const session = await page.context().newCDPSession(page);
  // The time that it was at work itself, whoever else uses the machine.
  await session.send("Performance.enable", { timeDomain: "threadTicks" });
  const lines = [
    `${total} instances, Node ${machine.node}, ${machine.cores} x ${machine.processor}, ` +
      `load ${machine.loadBefore.toFixed(1)} before; app and browser share it`,
    ...(await firstLoad(page)),
    await scroll(page, session, "to the end, loading all", {
      pixels: 1600,
      framesMax: Number.POSITIVE_INFINITY,
    }),
    await scroll(page, session, "as with a wheel", { pixels: 240, framesMax: 1200 }),
    await scroll(page, session, "to the end, all loaded", {
      pixels: 4000,
      framesMax: Number.POSITIVE_INFINITY,
    }),
    await heap(page, session),
    `load ${currentLoad().toFixed(1)} after`,
  ];
  process.stdout.write(`\n${lines.join("\n")}\n`);
} finally {
  await browser.close();
  await served.close();
  await app.stop({ grace: "1 millisecond" });
}

/** All of them have run to their end before anybody looks. */
async function seed(): Promise<void> {
  await app.start();
  progress.note("instances, made and run");
  for (let made = 0; made < total; made += 100) {
    const size = Math.min(100, total - made);
    const batch = Array.from({ length: size }, (_, n) => ({
      id: `quick-${made + n}`,
      params: { n: made + n },
    }));
    await app.workflows.quick.createBatch(batch);
    if (made % 1000 === 0) progress.count(made, total);
  }
  while ((await app.counts()).complete < total) await new Promise((resolve) => setTimeout(resolve, 200));
}

async function firstLoad(page: Page): Promise<readonly string[]> {
  await page.goto(new URL("dashboard/instances", served.url).href);
  await page.locator(".row").first().waitFor();
  const { readyMs, files } = (await page.evaluate(`({
    readyMs: performance.now(),
    files: performance.getEntriesByType("resource").concat(performance.getEntriesByType("navigation"))
      .map(({ name, transferSize, decodedBodySize }) => ({ name, transferSize, decodedBodySize })),
  })`)) as { readyMs: number; files: { name: string; transferSize: number; decodedBodySize: number }[] };
  const sum = (pattern: RegExp): string => {
    const chosen = files.filter(({ name }) => pattern.test(name));
    const kib = (size: number): string => `${(size / 1024).toFixed(1)} KiB`;
    const sent = chosen.reduce((bytes, each) => bytes + each.transferSize, 0);
    return `${kib(sent)} sent, ${kib(chosen.reduce((bytes, each) => bytes + each.decodedBodySize, 0))} unpacked`;
  };
  return [
    `first load: scripts ${sum(/\.js$/)}; styles ${sum(/\.css$/)}; all files ${sum(/\/dashboard\//)}`,
    `first rows after ${readyMs.toFixed(0)} ms`,
  ];
}

/** Down from the top, so many pixels per frame. */
async function scroll(
  page: Page,
  session: CDPSession,
  how: string,
  { pixels, framesMax }: { readonly pixels: number; readonly framesMax: number },
): Promise<string> {
  progress.note(`scrolling ${how}`);
  const before = await metrics(session);
  const { frames, seconds, drawnMost } = (await page.evaluate(`new Promise((resolve) => {
    scrollTo(0, 0);
    const frames = [];
    let drawnMost = 0;
    const begin = performance.now();
    let last = begin;
    const isEnd = () => /in all$/.test([...document.querySelectorAll(".list-end")].at(-1)?.textContent ?? "")
      && scrollY + innerHeight >= document.documentElement.scrollHeight - 2;
    const step = (now) => {
      frames.push(now - last);
      last = now;
      if (frames.length % 20 === 0) drawnMost = Math.max(drawnMost, document.querySelectorAll(".row").length);
      if (isEnd() || frames.length > ${framesMax}) resolve({ frames: frames.slice(1), seconds: (now - begin) / 1000, drawnMost });
      else { scrollBy(0, ${pixels}); requestAnimationFrame(step); }
    };
    requestAnimationFrame(step);
  })`)) as { frames: number[]; seconds: number; drawnMost: number };
  const after = await metrics(session);
  const ms = (value: number): string => `${value.toFixed(1)} ms`;
  const perFrame = ((after.TaskDuration ?? 0) - (before.TaskDuration ?? 0)) * (1000 / frames.length);
  return (
    `scrolling ${how}: ${frames.length} frames in ${seconds.toFixed(1)} s, ${pixels} px each; median ` +
    `${ms(percentile(frames, 0.5))}, 95th percentile ${ms(percentile(frames, 0.95))}, 99th ` +
    `${ms(percentile(frames, 0.99))}, longest ${ms(Math.max(...frames))}; ${ms(perFrame)} of processor time per frame; ` +
    `at most ${drawnMost} rows drawn`
  );
}

async function heap(page: Page, session: CDPSession): Promise<string> {
  await page.requestGC();
  const { JSHeapUsedSize = 0 } = await metrics(session);
  return `memory: ${(JSHeapUsedSize / 1024 / 1024).toFixed(0)} MiB of objects with everything loaded`;
}

async function metrics(session: CDPSession): Promise<Readonly<Record<string, number>>> {
  const { metrics: list } = await session.send("Performance.getMetrics");
  return Object.fromEntries(list.map(({ name, value }) => [name, value]));
}
