/** A real app with the dashboard on a real port, for tests with a browser. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  type App,
  type Authorize,
  allowAll,
  bearerToken,
  createWorkflows,
  type HttpOptions,
  type RunnerSettings,
} from "everstep";
import { dashboard } from "everstep/dashboard";
import { serve } from "everstep/node";
import { sqlite } from "everstep/sqlite";
import type { Store } from "everstep/store";
import { type SampleWorkflows, sampleWorkflows } from "./dashboard-workflows.ts";
import { Gates } from "./gates.ts";
import { Namespaces, serverStores } from "./server-stores.ts";

export const tokens = { all: "token-that-may-do-everything", readOnly: "token-that-may-only-look" } as const;

export interface DashboardAppOptions {
  /** "sqlite" unless said. */
  readonly store?: "sqlite" | "postgres";
  /** Everybody may do everything unless said; with "tokens" those of `tokens` may, with "nobody" it is not said who may. */
  readonly authorize?: "all" | "tokens" | "nobody" | Authorize;
  /** Whether instances run here; they do unless said. */
  readonly isRunning?: boolean;
  readonly runner?: RunnerSettings;
  readonly http?: HttpOptions;
}

export interface DashboardApp {
  /** Of the API, with a slash at its end. */
  readonly url: string;
  /** Of the dashboard, with a slash at its end. */
  readonly dashboardUrl: string;
  readonly app: App<SampleWorkflows>;
  /** For instances of `held`, by their ids. */
  readonly gates: Gates;
  /** What the app told its host of. */
  readonly problems: readonly unknown[];
  /** Ends the server alone, as if its process had gone; the app goes on. */
  stopServing(): Promise<void>;
  /** Serves again on the same port. */
  serveAgain(): Promise<void>;
  close(): Promise<void>;
}

export async function openDashboardApp(options: DashboardAppOptions = {}): Promise<DashboardApp> {
  const { store, remove } = openStore(options.store ?? "sqlite");
  const gates = new Gates();
  const problems: unknown[] = [];
  const app = createWorkflows({
    workflows: sampleWorkflows(gates),
    store,
    ...authorization(options.authorize ?? "all"),
    http: { dashboard, ...options.http },
    ...(options.runner ? { runner: options.runner } : {}),
    onNotice: () => {},
    // The servers of tests do not wait for their disks, and that is well known.
    onProblem: (problem) => {
      if ((problem as { readonly code?: unknown }).code !== "STORE_UNSAFE") problems.push(problem);
    },
  });
  if (options.isRunning ?? true) await app.start();
  else await app.migrate();
  let served = await serve(app, { port: 0 });
  const { port } = served;
  const url = new URL(`${options.http?.basePath ?? ""}/`, served.url).href;
  return {
    url,
    dashboardUrl: `${url}dashboard/`,
    app,
    gates,
    problems,
    stopServing: () => served.close(),
    async serveAgain() {
      served = await serve(app, { port });
    },
    async close() {
      await served.close();
      await app.stop({ grace: "1 millisecond" });
      await remove();
    },
  };
}

function authorization(who: "all" | "tokens" | "nobody" | Authorize): { readonly authorize?: Authorize } {
  if (typeof who === "object") return { authorize: who };
  if (who === "nobody") return {};
  if (who === "all") return { authorize: allowAll() };
  return { authorize: bearerToken({ tokens: tokens.all, readOnlyTokens: tokens.readOnly }) };
}

/** Whether a server for this store is there to test with. */
export function hasStore(name: "sqlite" | "postgres"): boolean {
  return name === "sqlite" || postgresStore?.url !== undefined;
}

const postgresStore = serverStores.find(({ name }) => name === "postgres");
const namespaces = postgresStore && new Namespaces(postgresStore);

function openStore(name: "sqlite" | "postgres"): {
  readonly store: Store;
  readonly remove: () => Promise<void> | void;
} {
  if (name === "postgres" && postgresStore && namespaces) {
    const namespace = namespaces.take();
    return { store: postgresStore.open(namespace), remove: () => namespaces.giveBack(namespace) };
  }
  const folder = mkdtempSync(join(tmpdir(), "everstep-dashboard-"));
  const remove = () => rmSync(folder, { recursive: true, force: true });
  return { store: sqlite(join(folder, "app.db")), remove };
}
