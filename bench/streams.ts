/** Holds many streams open, first all idle, then some busy, and says what they cost and how long health takes meanwhile. */
import { setTimeout as passed } from "node:timers/promises";
import { parseArgs } from "node:util";
import { makeFolder } from "./folder.ts";
import { type StoreName, storeNames } from "./grounds/ground.ts";
import { openGround } from "./grounds/open-ground.ts";
import { HeldStream } from "./http-load/held-stream.ts";
import { connect } from "./http-load/load.ts";
import { ServerProcess } from "./http-load/server-process.ts";
import { currentLoad } from "./machine.ts";
import { percentile } from "./stats.ts";

/** Streams of lists among the idle ones, each of another page. */
const lists = 100;
/** Streams opened at the same time. */
const openingMax = 20;

const { values } = parseArgs({
  options: {
    store: { type: "string", default: "sqlite" },
    idle: { type: "string", default: "1000" },
    busy: { type: "string", default: "200" },
    seconds: { type: "string", default: "20" },
  },
});
const store = storeNames.find((known) => known === values.store) as StoreName;
const [idle, busy, seconds] = [Number(values.idle), Number(values.busy), Number(values.seconds)];

const ground = await openGround(store, makeFolder(null));
const server = await ServerProcess.start(ground, ground.freshPlace(), "streams-program.ts");
try {
  process.exitCode = await measure();
} finally {
  await server.stop();
  await ground.close();
}

/** 1 when a stream was lost, or health took longer than a second. */
async function measure(): Promise<number> {
  const client = connect(server.url);
  const create = async (name: string, count: number): Promise<void> => {
    const ids = Array.from({ length: count }, (_, n) => ({ id: `${name}-${n}` }));
    for (let at = 0; at < count; at += 100) await client.workflow(name).createBatch(ids.slice(at, at + 100));
  };
  await create("idle", idle);
  await create("busy", busy);
  const of = (name: string, count: number): string[] =>
    Array.from({ length: count }, (_, n) => `workflows/${name}/instances/${name}-${n}`);
  const listed = Array.from(
    { length: Math.min(lists, idle) },
    (_, n) => `instances?pageSize=${1 + (n % 100)}`,
  );
  const idleStreams = await openAll([...listed, ...of("idle", idle - listed.length)]);
  const busyStreams = await openAll(of("busy", busy));
  const all = [...idleStreams, ...busyStreams];
  await settled(all);
  process.stdout.write(`${all.length} streams on ${ground.title}, load ${currentLoad().toFixed(1)}\n`);
  const quiet = await phase("all idle", all);
  for (let n = 0; n < busy; n++) await client.workflow("busy").get(`busy-${n}`).sendEvent({ type: "begin" });
  const loud = await phase(`${busy} busy`, busyStreams);
  const lost = all.filter(({ isOpen }) => !isOpen).length;
  process.stdout.write(`streams lost: ${lost}\n`);
  for (const stream of all) stream.close();
  return lost > 0 || Math.max(quiet, loud) > 1000 ? 1 : 0;
}

/** The longest that health took. */
async function phase(name: string, streams: readonly HeldStream[]): Promise<number> {
  const events = (): number => streams.reduce((sum, each) => sum + each.events, 0);
  const [before, eventsBefore, begun] = [await server.usage(), events(), performance.now()];
  const waits: number[] = [];
  while (performance.now() - begun < seconds * 1000) {
    const asked = performance.now();
    const { ok } = await fetch(new URL("livez", server.url));
    if (!ok) throw new Error("The server is not well.");
    waits.push(performance.now() - asked);
    await passed(50);
  }
  const after = await server.usage();
  const took = performance.now() - begun;
  const share = (after.cpuUs - before.cpuUs) / 1000 / took;
  const figures = [0.5, 0.99, 1].map((part) => percentile(waits, part).toFixed(1)).join(" / ");
  process.stdout.write(
    `${name.padEnd(10)} ${share.toFixed(2)} of a processor, ${after.memoryMiB.toFixed(0)} MiB, ` +
      `${((events() - eventsBefore) / (took / 1000)).toFixed(0)} events per s, /livez p50 / p99 / max ${figures} ms\n`,
  );
  return Math.max(...waits);
}

async function openAll(paths: readonly string[]): Promise<readonly HeldStream[]> {
  const streams: HeldStream[] = [];
  for (let at = 0; at < paths.length; at += openingMax) {
    const part = paths.slice(at, at + openingMax);
    streams.push(...(await Promise.all(part.map((path) => HeldStream.open(server.url, path)))));
  }
  return streams;
}

/** Every one has what there is, and nothing more comes. */
async function settled(streams: readonly HeldStream[]): Promise<void> {
  for (let last = -1; ; ) {
    const events = streams.reduce((sum, each) => sum + each.events, 0);
    if (events === last && streams.every((each) => each.events > 0)) return;
    last = events;
    await passed(1000);
  }
}
