/** Everybody who takes part in the chaos, and how they reach the data. */
import { type App, createWorkflows } from "everstep";
import { Clients } from "./clients.ts";
import { Faults } from "./faults.ts";
import { Fleet, type FleetTask } from "./fleet.ts";
import { type ChaosWorkflows, chaosWorkflows } from "./journey.ts";
import { noLedger } from "./ledger.ts";
import { openStore } from "./open-store.ts";
import { Operator } from "./operator.ts";
import { Random } from "./random.ts";
import { Receipts } from "./receipts.ts";
import type { Site } from "./site.ts";
import type { TcpProxy } from "./tcp-proxy.ts";

const fleetSize = 4;
const pollMs = 300;
export const leaseMs = 2500;

export interface Stage {
  readonly site: Site;
  readonly fleet: Fleet;
  readonly faults: Faults;
  readonly clients: Clients;
  readonly operator: Operator;
  /** Looks on over a straight way. */
  readonly observer: App<ChaosWorkflows>;
  readonly receipts: Receipts;
  /** For what is drawn besides. */
  readonly random: Random;
  close(): Promise<void>;
}

export async function openStage(site: Site, seed: number): Promise<Stage> {
  const random = new Random(seed);
  const fleet = await Fleet.open(site, fleetSize);
  const clientProxy = await site.openProxy();
  const client = await openApp(site, clientProxy);
  // Straight, unless the server may be another one by then.
  const observerProxy = site.setup === "standby" ? await site.openProxy() : null;
  const observer = await openApp(site, observerProxy);
  const receipts = new Receipts();
  receipts.mayForget = site.setup === "standby";
  const task = drawTasks(random.branch());
  return {
    site,
    fleet,
    observer,
    receipts,
    faults: new Faults({ site, fleet, clientProxy, random: random.branch(), leaseMs, task }),
    clients: new Clients(client, random.branch(), receipts),
    operator: new Operator(client, random.branch(), receipts),
    random: random.branch(),
    async close() {
      await fleet.close();
      await client.stop();
      await observer.stop();
      await clientProxy?.close();
      await observerProxy?.close();
    },
  };
}

/** Some keep suspended turns in memory and some replay each time: both ways must lead to the same. */
function drawTasks(random: Random): () => FleetTask {
  return () => ({ program: "chaos", leaseMs, pollMs, maxResidents: random.pick([0, 10, 1000]) });
}

async function openApp(site: Site, proxy: TcpProxy | null): Promise<App<ChaosWorkflows>> {
  return createWorkflows({
    workflows: chaosWorkflows(noLedger),
    store: await openStore(site.kind, site.addressThrough(proxy)),
    onNotice: ignore,
    onProblem: ignore,
  });
}

function ignore(): void {}
