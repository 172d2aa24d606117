/** What the store does at most, whatever engine asks it. */
import { onEach } from "../raw/life.ts";
import type { RawStore } from "../raw/raw-store.ts";
import type { LineSpec, Workload } from "../workload.ts";

/** On how many connections at the same time. */
const single = { alone: [1], several: [1, 8, 32] } as const;
const grouped = { alone: [1], several: [1, 2, 4] } as const;
const together = 200;

export const limits: Workload = {
  name: "limits",
  about: "the store alone: step results written one by one, and 200 together",
  roundsMax: 3,

  async measure(bench) {
    const { hasConnections } = bench.ground;
    const how = hasConnections ? "several" : "alone";
    const most = Math.max(...single[how], ...grouped[how]);
    const raw = await bench.freshPlace().openRaw(most);
    const figures: Record<string, number> = {};
    const limit = async (name: string, connections: number, rows: number): Promise<void> => {
      bench.note(`raw, ${rows} per transaction, connections: ${connections}`);
      figures[name] = await rate(raw, connections, rows, bench.sizes.limitMs);
    };
    await rate(raw, 1, together, bench.sizes.limitMs / 4);
    for (const connections of single[how]) await limit(`single${connections}`, connections, 1);
    for (const connections of grouped[how]) await limit(`grouped${connections}`, connections, together);
    await raw.close();
    return figures;
  },

  lines(_sizes, { hasConnections, name }) {
    const how = hasConnections ? "several" : "alone";
    const unit = name === "redis" ? "script" : "transaction";
    const where = (connections: number): string => {
      if (!hasConnections) return "";
      if (name === "redis")
        return `, ${connections === 1 ? "one after the other" : `${connections} in flight`}`;
      return `, ${connections} ${connections === 1 ? "connection" : "connections"}`;
    };
    const line = (connections: number, rows: number): LineSpec => ({
      what: `step results, ${rows} per ${unit}${where(connections)}`,
      unit: "per s",
      raw: `${rows === 1 ? "single" : "grouped"}${connections}`,
    });
    return [
      ...single[how].map((connections) => line(connections, 1)),
      ...grouped[how].map((connections) => line(connections, together)),
    ];
  },
};

/** Rows of finished steps per second. */
async function rate(raw: RawStore, connections: number, rows: number, forMs: number): Promise<number> {
  let written = 0;
  const start = performance.now();
  await onEach(connections, async (connection) => {
    while (performance.now() - start < forMs) {
      const first = raw.reserve(rows);
      const runs = Array.from({ length: rows }, (_, n) => first + n);
      const step = { index: 0, name: "step 0", result: '{"n":0,"ok":true}' };
      await raw.transact((table) => table.step(runs, step, Date.now()), connection);
      written += rows;
    }
  });
  return (written / (performance.now() - start)) * 1000;
}
