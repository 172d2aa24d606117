import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { WorkflowDefinition } from "everstep";
import { sqlite } from "everstep/sqlite";
import { createTestHarness, type TestHarness, type TestHarnessOptions } from "everstep/testing";
import { afterEach, describe } from "vitest";
import { Namespaces, serverStores } from "../support/server-stores.ts";

/** Opens a harness on the store under test; closed after each test. */
export type Tell = <const Workflows extends Record<string, WorkflowDefinition>>(
  workflows: Workflows,
  options?: Omit<TestHarnessOptions<Workflows>, "workflows" | "store">,
) => TestHarness<Workflows>;

type CleanUp = (act: () => Promise<void> | void) => void;

/** The same scenarios on every store. They are numbered as in the specification. */
export function onEachStore(title: string, scenarios: (tell: Tell) => void): void {
  describe(`${title} (memory)`, () => scenarios(tellOn(() => ({}))));
  describe(`${title} (sqlite)`, () => {
    scenarios(
      tellOn((cleanUp) => {
        const folder = mkdtempSync(join(tmpdir(), "everstep-scenario-"));
        cleanUp(() => rmSync(folder, { recursive: true, force: true }));
        // Durability is tested with real processes elsewhere; here thousands of commits should not wait for the disk.
        return { store: () => sqlite({ path: join(folder, "app.db"), synchronous: "normal" }) };
      }),
    );
  });
  for (const server of serverStores) {
    describe.skipIf(server.url === undefined)(`${title} (${server.name})`, () => {
      const namespaces = new Namespaces(server);
      scenarios(
        tellOn((cleanUp) => {
          const namespace = namespaces.take();
          cleanUp(() => namespaces.giveBack(namespace));
          return { store: () => server.open(namespace) };
        }),
      );
    });
  }
}

function tellOn(store: (cleanUp: CleanUp) => Pick<TestHarnessOptions<never>, "store">): Tell {
  const open: { stop(): Promise<void> }[] = [];
  const cleanUps: (() => Promise<void> | void)[] = [];
  afterEach(async () => {
    for (const harness of open.splice(0)) await harness.stop();
    for (const act of cleanUps.splice(0)) await act();
  });
  return (workflows, options) => {
    const harness = createTestHarness({ workflows, ...options, ...store((act) => void cleanUps.push(act)) });
    open.push(harness);
    return harness;
  };
}
