import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { createWorkflows, defineWorkflow } from "everstep";
import { afterEach, describe, expect, test } from "vitest";
import { serverStores } from "../support/server-stores.ts";
import { openPlace } from "./place.ts";

/** A store of this test's own, for as many processes as it likes. */
interface Place {
  readonly store: string;
  readonly place: string;
}

const processes = new Set<ChildProcess>();
const leftovers: (() => unknown)[] = [];
let namespaces = 0;

afterEach(async () => {
  for (const host of processes) host.kill("SIGKILL");
  processes.clear();
  for (const clear of leftovers.splice(0)) await clear();
});

function temporaryFile(): Place {
  const folder = mkdtempSync(join(tmpdir(), "everstep-dead-owner-"));
  leftovers.push(() => rmSync(folder, { recursive: true, force: true }));
  return { store: "sqlite", place: join(folder, "app.db") };
}

const stores: readonly { readonly name: string; readonly open: (() => Place) | null }[] = [
  { name: "sqlite", open: temporaryFile },
  ...serverStores.map(({ name, url, empty }) => ({
    name,
    open:
      url === undefined
        ? null
        : (): Place => {
            const place = `d${process.pid}_${++namespaces}`;
            leftovers.push(() => empty(place));
            return { store: name, place };
          },
  })),
];

async function startHost({ store, place }: Place, ifInterrupted = "retry"): Promise<ChildProcess> {
  const host = fork(join(import.meta.dirname, "host.ts"), [store, place, ifInterrupted], {
    execArgv: ["--conditions=everstep-source", "--disable-warning=ExperimentalWarning"],
  });
  processes.add(host);
  await once(host, "message");
  return host;
}

/** An app that only looks and creates; the hosts run the code. */
function observer({ store, place }: Place) {
  const patient = defineWorkflow({ name: "patient" }, async () => "never runs here");
  return createWorkflows({ workflows: { PATIENT: patient }, store: openPlace(store, place) });
}

/** An instance whose body hangs in a process. */
async function hanging(database: Place) {
  const app = observer(database);
  const instance = await app.workflows.PATIENT.create({ id: "i", params: { hang: true } });
  const first = await startHost(database);
  await once(first, "message");
  return { database, app, instance, first };
}

async function isWaiting(instance: { status(): Promise<{ status: string }> }): Promise<void> {
  while ((await instance.status()).status !== "waiting") await delay(20);
}

async function kill(host: ChildProcess): Promise<void> {
  host.kill("SIGKILL");
  await once(host, "exit");
  processes.delete(host);
}

describe.each(stores)("$name", ({ name, open }) => {
  test.skipIf(open === null)(
    "a killed process's work continues in another long before its lease of an hour is over (LIV-2, R-017)",
    async () => {
      const { database, app, instance, first } = await hanging(open!());
      const second = await startHost(database);
      await kill(first);
      const result = await instance.result({ timeout: "60 seconds" });
      expect(result).toMatchObject({ status: "complete", output: { first: first.pid, second: second.pid } });
      await app.stop();
    },
  );

  // Elsewhere: stores/machine/owner-files.test.ts.
  test.runIf(name === "sqlite")(
    "a second process starting does not touch live work of the first (144)",
    async () => {
      const { database, app, instance } = await hanging(open!());
      for (const mode of ["retry", "fail"]) await startHost(database, mode);
      const second = await instance.details();
      expect(second).toMatchObject({
        status: "active",
        executing: true,
        currentStep: { name: "hang", status: "running" },
      });
      await app.stop();
    },
  );

  test.skipIf(open === null)(
    '132. with ifInterrupted: "fail" unfinished runs of a dead process are errored, sleeping ones too, and restart works',
    async () => {
      const database = open!();
      const app = observer(database);
      const hanging = await app.workflows.PATIENT.create({ id: "hanging", params: { hang: true } });
      const sleeping = await app.workflows.PATIENT.create({ id: "sleeping", params: { sleep: "1 hour" } });
      const first = await startHost(database, "fail");
      await once(first, "message");
      await isWaiting(sleeping);
      const done = await app.workflows.PATIENT.create({ id: "done", params: {} });
      expect((await done.result({ timeout: "60 seconds" })).status).toBe("complete");
      await kill(first);
      await startHost(database, "fail");
      for (const instance of [hanging, sleeping]) {
        expect(await instance.result({ timeout: "60 seconds" })).toMatchObject({
          status: "errored",
          error: { message: "interrupted by restart", code: "INTERRUPTED_BY_RESTART" },
        });
      }
      expect((await done.status()).status).toBe("complete");
      await sleeping.restart();
      await isWaiting(sleeping);
      expect((await sleeping.details()).runNumber).toBe(2);
      await app.stop();
    },
  );
});
