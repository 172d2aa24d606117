import { defineWorkflow } from "everstep";
import { createTestHarness, storeFailure } from "everstep/testing";
import { sqlite } from "everstep/sqlite";
import { mkdtempSync, rmSync } from "node:fs"; import { join } from "node:path"; import { tmpdir } from "node:os";
const dir = mkdtempSync(join(tmpdir(), "rv-fuzz-"));
function rng(seed: number) { return () => { seed |= 0; seed = (seed + 0x6d2b79f5) | 0; let t = Math.imul(seed ^ (seed >>> 15), 1 | seed); t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t; return ((t ^ (t >>> 14)) >>> 0) / 4294967296; }; }
type Node = { k: "do" | "flaky" | "sleep" | "wait" | "par" | "race" | "nest" | "rep" | "mut" | "hook" | "catchwait"; n: string; kids?: Node[]; a?: number };
let uid = 0;
function gen(r: () => number, depth: number): Node[] {
  const len = 1 + Math.floor(r() * 3);
  return Array.from({ length: len }, () => { const ks = depth > 0 ? ["do", "flaky", "sleep", "wait", "par", "race", "nest", "rep", "mut", "hook", "catchwait"] : ["do", "flaky", "sleep", "wait", "rep", "mut", "hook", "catchwait"]; const k = ks[Math.floor(r() * ks.length)] as any; const n = `${k}${uid++}`; if (k === "par" || k === "race") return { k, n, kids: Array.from({ length: 2 + Math.floor(r() * 2) }, () => ({ k: "seq" as any, n: `q${uid++}`, kids: gen(r, depth - 1) })) }; if (k === "nest") return { k, n, kids: gen(r, 0).filter((x) => x.k !== "rep") }; return { k, n, a: Math.floor(r() * 3) }; });
}
async function trial(seed: number, store: string) {
  const r = rng(seed); uid = 0; const prog = gen(r, 2);
  const done = new Map<string, number>(); // run/key -> completions observed durable? track body starts
  const violations: string[] = [];
  const starts = new Map<string, number>();
  const firstSeen = new Map<string, string>(); // inst/run/step value first seen by workflow
  let val = 0;
  const exec = async (nodes: Node[], step: any, id: string): Promise<any[]> => { const out: any[] = []; for (const x of nodes) out.push(await one(x, step, id)); return out; };
  const body = (name: string, id: string) => async (c: any) => { const k = c.idempotencyKey; starts.set(k, (starts.get(k) ?? 0) + 1); if (durable(k)) violations.push(`body of completed ${k} ran again`); return ++val; };
  let completedKeys = new Set<string>();
  const durable = (k: string) => completedKeys.has(k);
  const see = (id: string, name: string, v: unknown) => { const s = JSON.stringify(v); const b = firstSeen.get(`${id}:${name}`); if (b !== undefined && b !== s) violations.push(`${id} ${name} saw ${b} then ${s}`); return v; };
  const one = async (x: Node, step: any, id: string): Promise<any> => {
    switch (x.k as string) {
      case "seq": return exec(x.kids!, step, id);
      case "do": return step.do(x.n, body(x.n, id));
      case "mut": return step.do(x.n, async (c: any) => { c.mutate(() => {}); return body(x.n, id)(c); });
      case "rep": { const o = []; for (let i = 0; i < 2; i++) o.push(await step.do(x.n, { repeat: true }, body(x.n, id))); return o; }
      case "flaky": return step.do(x.n, { retries: { limit: 6, delay: x.a === 0 ? 0 : x.a! * 1500, backoff: "constant" } }, async (c: any) => { const v = await body(x.n, id)(c); if (c.attempt < 2) throw new Error("flaky"); return v; });
      case "sleep": return step.sleep(x.n, x.a! * 4000 + 1).then(() => x.n);
      case "wait": return step.waitForEvent(x.n, { type: `t${x.a}`, timeout: "10 hours" }).then((e: any) => e.payload.n);
      case "hook": return step.waitForEvent(x.n, { type: `t${x.a}`, timeout: "10 hours", onConsume: async (e: any, c: any) => { c.mutate(() => {}); } }).then((e: any) => e.payload.n);
      case "catchwait": return step.waitForEvent(x.n, { type: `t${x.a}`, timeout: 2000 * (1 + x.a!) }).then((e: any) => e.payload.n, () => "timeout");
      case "nest": return step.do(x.n, { timeout: "20 hours" }, async (c: any) => { await body(x.n, id)(c); return exec(x.kids!, step, id); });
      case "par": return Promise.all(x.kids!.map((k) => one(k, step, id)));
      case "race": return Promise.race(x.kids!.map(async (k) => [k.n, await one(k, step, id)]));
    }
  };
  const wf = defineWorkflow({ name: "w" }, async (e: any, step: any) => exec(prog, step, e.instanceId));
  const path = join(dir, `${store}${seed}.db`);
  const problems: unknown[] = [];
  const h = createTestHarness({ workflows: { W: wf }, seed, ...(store === "sqlite" ? { store: () => sqlite({ path, synchronous: "off" as any }) } : {}), onProblem: (p: unknown) => problems.push(p) } as any) as any;
  const ids = ["a", "b"]; const names = ["r1", "r2"]; let sent = 0; const front = h.runner("front");
  const chaos = () => { for (const n of names) { const f = h.runner(n).faults; f.plan((c: any) => { if (!faulty) return null; const d = r(); if (d < 0.04) return () => Promise.reject(storeFailure(d < 0.02 ? "unavailable" : "conflict")); if (d < 0.07 && c.method === "write") return async (apply: any) => { await apply(); throw storeFailure("ambiguous"); }; return null; }); } };
  let faulty = true; chaos();
  const handles: any = {};
  for (const id of ids) handles[id] = await front.workflows.W.create({ id });
  const snapshot = async () => { for (const id of ids) { const hist = await h.history(id).catch(() => null); if (!hist) continue; const d = await handles[id].details(); for (const s of hist.steps) if (s.status === "completed" && s.type === "do") completedKeys.add(`w/${id}/${d.runNumber}/${s.stepKey}`); } };
  try {
    for (let t = 0; t < 40; t++) {
      const d = r(); const n = names[Math.floor(r() * 2)]; const id = ids[Math.floor(r() * 2)];
      await snapshot();
      const rn = h.runner(n);
      if (d < 0.35) { if (rn.state === "running") await rn.tick(r() < 0.2 ? { maxSteps: 1 + Math.floor(r() * 2) } : undefined).catch(() => {}); }
      else if (d < 0.5) await h.clock.advance(Math.floor(r() * 6000));
      else if (d < 0.65) await handles[id].sendEvent({ type: `t${Math.floor(r() * 3)}`, payload: { n: sent++ } }).catch(() => {});
      else if (d < 0.70) await handles[id].pause().catch(() => {});
      else if (d < 0.76) await handles[id].resume();
      else if (d < 0.79) await handles[id].restart();
      else if (d < 0.85) { rn.kill(); await h.restartRunner(n); chaosFor(n); }
      else if (d < 0.89) { if (rn.state === "running") rn.freeze(); }
      else if (d < 0.95) { if (rn.state === "frozen") await rn.thaw(); }
      else if (d < 0.97) await h.clock.advance("40 seconds");
      else await handles[id].skipSleep().catch(() => {});
    }
    function chaosFor(n: string) { h.runner(n).faults.plan((c: any) => { if (!faulty) return null; const d = r(); if (d < 0.04) return () => Promise.reject(storeFailure("conflict")); if (d < 0.07 && c.method === "write") return async (apply: any) => { await apply(); throw storeFailure("ambiguous"); }; return null; }); }
    faulty = false;
    for (const n of names) { const rn = h.runner(n); if (rn.state === "frozen") await rn.thaw(); }
    for (const id of ids) await handles[id].resume();
    for (let t = 0; t < 400; t++) {
      await snapshot();
      const st = await Promise.all(ids.map((id) => handles[id].status()));
      if (st.every((s: any) => s.status === "complete" || s.status === "errored")) break;
      for (const id of ids) for (const k of [0, 1, 2]) { const hist = await h.history(id); const open = hist.events.filter((e: any) => e.type === `t${k}` && !e.deliveredAt).length; if (open < 3) await handles[id].sendEvent({ type: `t${k}`, payload: { n: sent++ } }).catch(() => {}); }
      for (const n of names) await h.runner(n).tick().catch(() => {});
      await h.clock.advance("45 seconds");
    }
    for (const id of ids) {
      const s = await handles[id].status(); if (s.status !== "complete") violations.push(`${id} ended as ${JSON.stringify(s)}`);
      const hist = await h.history(id); const by = hist.events.filter((e: any) => e.consumedByStepKey).map((e: any) => e.consumedByStepKey); if (new Set(by).size !== by.length) violations.push(`two events for one wait ${by}`);
      for (const w of hist.steps.filter((x: any) => x.type === "waitForEvent" && x.status === "completed")) if (!by.includes(w.stepKey)) violations.push(`wait ${w.stepKey} completed without event`);
      for (const k of by) { const w = hist.steps.find((x: any) => x.stepKey === k); if (w?.type === "waitForEvent" && w.status !== "completed") violations.push(`event consumed by ${k} which is ${w?.status}`); }
      const idx = new Set(hist.steps.map((x: any) => x.index)); if (idx.size !== hist.steps.length || new Set(hist.steps.map((x: any) => x.stepKey)).size !== hist.steps.length) violations.push("duplicate step index or key");
      // replay from completed history through fork from nothing kept: deterministic re-run of output through restart-from is not checked
    }
  } catch (e) { violations.push("THREW " + (e as any)?.stack?.slice(0, 500)); }
  await Promise.race([h.stop().catch((e: any) => violations.push("stop " + String(e))), new Promise((q) => setTimeout(q, 2000))]);
  rmSync(path, { force: true });
  return { violations, prog, problems };
}
process.on("unhandledRejection", (e) => console.log("UNHANDLED", e));
const from = Number(process.argv[2] ?? 1), store = process.argv[3] ?? "memory", end = Date.now() + Number(process.argv[4] ?? 40) * 1000;
let seed = from, bad = 0;
for (; Date.now() < end && bad < 5; seed++) { const x = await Promise.race([trial(seed, store), new Promise<any>((q) => setTimeout(() => q({ violations: ["HANG"], prog: null, problems: [] }), 20000))]); if (x.violations.length) { bad++; console.log("SEED", seed, store, x.violations.slice(0, 4), JSON.stringify(x.prog)?.slice(0, 700), x.problems.slice(0, 2).map(String)); } }
console.log("ran", from, "to", seed - 1, store, "bad", bad); rmSync(dir, { recursive: true, force: true }); process.exit(0);
