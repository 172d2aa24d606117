/** Who takes over whose work: that of the dead soon, that of the living never, and only what one has code for. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { type App, createWorkflows, type WorkflowDefinition } from "everstep";
import { expect, test } from "vitest";
import { watchLateness } from "../support/lateness.ts";
import { auditRecords } from "./audit/records.ts";
import { Fleet, type FleetTask } from "./fleet.ts";
import { type BeginLine, noLedger, readLedger } from "./ledger.ts";
import { openStore } from "./open-store.ts";
import { patientWorkflows, releases } from "./programs.ts";
import type { Site } from "./site.ts";
import { lookFor, pause } from "./time.ts";

const leaseMs = 2000;
const pollMs = 500;
const task = { leaseMs, pollMs, maxResidents: 1000 };

export function describeTakeover(siteOf: () => Site): void {
  const kills = 3;
  // Promised: lease + poll interval + 1 second. What is above that is for a machine with better things to do.
  const boundMs = leaseMs + pollMs + 1000 + 1500;

  test(
    `a dead runner's work goes on in another within ${boundMs / 1000} s (LIV-2)`,
    { timeout: 300_000 },
    () =>
      withFleet(siteOf(), 2, patientWorkflows(noLedger), async ({ app, fleet, start, begins }) => {
        await start(0, { program: "patient" });
        const waits: number[] = [];
        const lateness = watchLateness();
        for (let kill = 0; kill < kills; kill++) {
          const id = `patient-${kill}`;
          const instance = await app.workflows.PATIENT.create({ id, params: { firstStartMs: 60_000 } });
          const first = await begins(`patient/${id}/1/wait`, 1);
          const victim = fleet.runners.find(({ pid }) => pid === first.pid);
          const other = fleet.places.findIndex(({ runner }) => runner !== victim);
          const survivor = await start(other, { program: "patient" });
          victim?.kill();
          const again = await begins(`patient/${id}/1/wait`, 2);
          expect(again).toMatchObject({ pid: survivor.pid, start: 2 });
          expect(await instance.result({ timeout: "60 seconds" })).toMatchObject({ output: survivor.pid });
          waits.push(again.at - (victim?.endedAt ?? 0));
        }
        const times = waits.map((ms) => `${ms.toFixed(0)} ms`).join(", ");
        console.info(`${siteOf().kind}: work of dead runners went on after ${times}`);
        // A machine that is late with everything is late with this, too.
        expect(median(waits), times).toBeLessThan(boundMs + 10 * lateness.worstMs());
      }),
  );

  test("processes that start never touch live work of another, however they treat dead ones (144)", () =>
    withFleet(siteOf(), 3, patientWorkflows(noLedger), async ({ app, fleet, start, begins }) => {
      // Long enough for a busy machine to renew it in time, once at least while the others are there.
      const living = { program: "patient", leaseMs: 10_000 } as const;
      const first = await start(0, living);
      const untilFile = join(fleet.folder, "go on");
      const params = { firstStartMs: 1, untilFile };
      const instance = await app.workflows.PATIENT.create({ id: "alive", params });
      await begins("patient/alive/1/wait", 1);
      await start(1, living);
      await start(2, { ...living, ifInterrupted: "fail" });
      await pause(living.leaseMs / 2);
      expect(await instance.details()).toMatchObject({
        status: "active",
        executing: true,
        currentStep: { name: "wait", status: "running", starts: 1 },
      });
      writeFileSync(untilFile, "");
      expect(await instance.result({ timeout: "60 seconds" })).toMatchObject({
        status: "complete",
        output: first.pid,
      });
      const starts = beginsOf(fleet).filter(({ body }) => body.startsWith("patient/alive/"));
      expect(starts.map(({ pid, body }) => [pid, body])).toEqual([
        [first.pid, "patient/alive/1/arrive"],
        [first.pid, "patient/alive/1/wait"],
      ]);
    }));

  test("in a rolling deploy a new workflow's instances wait visibly, and run only where their code is", () =>
    withFleet(siteOf(), 2, releases(noLedger), async ({ app, start }) => {
      const { ORDER, REFUND } = app.workflows;
      const old = await start(0, { program: "old release" });
      const ids = Array.from({ length: 8 }, (_, at) => `${at}`);
      const refunds = await Promise.all(ids.map((id) => REFUND.create({ id })));
      const orders = await Promise.all(ids.map((id) => ORDER.create({ id })));
      for (const order of orders) {
        expect(await order.result({ timeout: "60 seconds" })).toMatchObject({ output: [old.pid, old.pid] });
      }
      for (const refund of refunds) {
        expect(await refund.details()).toMatchObject({ status: "active", queued: true, executing: false });
      }
      const recent = await start(1, { program: "new release" });
      for (const refund of refunds) {
        expect(await refund.result({ timeout: "60 seconds" })).toMatchObject({
          output: [recent.pid, recent.pid],
        });
      }
      const more = await Promise.all(ids.map((id) => ORDER.create({ id: `late-${id}` })));
      for (const order of more) {
        const { output } = await order.result({ timeout: "60 seconds" });
        expect([old.pid, recent.pid]).toEqual(expect.arrayContaining(output));
      }
    }));
}

interface Stage<Workflows extends Record<string, WorkflowDefinition>> {
  readonly app: App<Workflows>;
  readonly fleet: Fleet;
  /** Starts a runner in a place, and resolves when it runs. */
  start(
    place: number,
    what: Pick<FleetTask, "program" | "ifInterrupted"> & Partial<Pick<FleetTask, "leaseMs">>,
  ): Promise<Fleet["runners"][number]>;
  /** The n-th begin of a body. */
  begins(body: string, n: number): Promise<BeginLine>;
}

async function withFleet<Workflows extends Record<string, WorkflowDefinition>>(
  site: Site,
  size: number,
  workflows: Workflows,
  tell: (stage: Stage<Workflows>) => Promise<void>,
): Promise<void> {
  const store = await openStore(site.kind, site.address);
  const quiet = { onNotice: () => {}, onProblem: () => {} };
  const app = createWorkflows({ workflows, store, ...quiet }) as App<Workflows>;
  const fleet = await Fleet.open(site, size);
  try {
    await tell({
      app,
      fleet,
      async start(at, what) {
        const place = fleet.places[at];
        if (!place) throw new RangeError(`There is no place ${at}.`);
        const runner = fleet.start(place, { ...task, ...what });
        await runner.ready;
        expect(runner.fate, runner.lastWords).toBe("runs");
        return runner;
      },
      async begins(body, n) {
        const look = (): BeginLine | undefined => beginsOf(fleet).filter((line) => line.body === body)[n - 1];
        const found = await lookFor(look, { withinMs: 60_000 });
        if (!found) throw new Error(`${body} did not begin ${n} times.`);
        return found;
      },
    });
    expect(await auditRecords(app)).toEqual([]);
  } finally {
    await fleet.close();
    await app.stop();
  }
}

function beginsOf(fleet: Fleet): BeginLine[] {
  return readLedger(fleet.folder).filter((line) => line.kind === "begin");
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}
