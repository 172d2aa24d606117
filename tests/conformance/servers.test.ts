/** The same programs on every store that needs a server. Killed processes are for the chaos tests; here a reload cuts off. */
import type { Store } from "everstep/store";
import { afterAll, describe, test, vi } from "vitest";
import { AnswerTimes } from "../support/lateness.ts";
import { Namespaces, serverStores } from "../support/server-stores.ts";
import { describeCorpus } from "./describe-corpus.ts";
import { cloudflareDifferences } from "./differences.ts";
import { driveReloadingInProcess, hostTogether } from "./in-process.ts";

vi.setConfig({ maxConcurrency: 40, testTimeout: 300_000 });

for (const server of serverStores) {
  const title = `classes for Cloudflare, on ${server.name}`;
  if (server.url === undefined) {
    describe(title, () => test.skip("no server", () => {}));
    continue;
  }
  const namespaces = new Namespaces(server);
  const used: string[] = [];
  const take = (): string => {
    const namespace = namespaces.take();
    used.push(namespace);
    return namespace;
  };
  afterAll(async () => {
    for (const namespace of used) await namespaces.giveBack(namespace);
  });
  const answerTimes = new AnswerTimes();
  const open = (namespace: string): Store => answerTimes.of(server.open(namespace));
  await describeCorpus(title, {
    differences: cloudflareDifferences,
    answerTimes,
    hostTogether: (programs) => hostTogether(programs, "cloudflare", open(take())),
    driveReloading(program) {
      const namespace = take();
      return driveReloadingInProcess(program, "cloudflare", () => open(namespace));
    },
  });
}
