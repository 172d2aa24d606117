/** A run that wants a turn and stands in no list of due runs: nobody claims it, so it must be seen at once and put back. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { RunnerRecord } from "../../store/store.ts";
import {
  claimIds,
  claimOne,
  instance,
  started,
  suspended,
  write,
} from "../../testing/store-contract/acts.ts";
import {
  at,
  create,
  leaseMs,
  pause,
  restart,
  resume,
  sleeping,
  workflow,
} from "../../testing/store-contract/given.ts";
import { loadDriver, type RedisClient, type RedisDriver } from "./driver.ts";
import type { RedisStore } from "./redis-store.ts";
import { namespaceOf, openClient, openFresh, redisUrl, removeTestKeys } from "./test-support.ts";

describe.skipIf(redisUrl === undefined)("a run in no list of due runs", () => {
  let client: RedisClient;
  let store: RedisStore;
  let scans = 0;
  beforeAll(async () => {
    client = await openClient();
  });
  afterAll(async () => {
    await removeTestKeys(client);
    client.disconnect();
  });
  beforeEach(async () => {
    scans = 0;
    store = openFresh({ driver: countingScans });
    await write(store, create("starts"), at(0));
    await started(store, "held");
    await suspended(store, "sleeps", [sleeping(1, at(5))], at(5));
    await write(store, create("paused"), at(0));
    await write(store, pause("paused"), at(0));
    await started(store, "paused at work");
    await write(store, pause("paused at work"), at(0));
    await write(store, create("again"), at(0));
    await write(store, restart("again"), at(0));
  });
  afterEach(() => store.close());

  const wanting = ["again", "held", "sleeps", "starts"];

  test("is none of those of a sound store", async () => {
    expect(await unlistedIds()).toEqual([]);
    expect(await codes()).not.toContain("RUNS_UNLISTED");
    for (const id of [...wanting, "paused", "paused at work"])
      expect((await instance(store, id)).unlisted).toBeUndefined();
  });

  test("is known by its record, in every list, and by a warning of the store", async () => {
    await forgetLanes();
    for (const id of wanting) expect(await instance(store, id)).toMatchObject({ unlisted: true });
    const { items } = await store.listInstances({ limit: 10 });
    expect(namesOf(items.filter(({ unlisted }) => unlisted))).toEqual(wanting);
    expect(await unlistedIds()).toEqual(wanting);
    expect(await codes()).toContain("RUNS_UNLISTED");
    expect((await instance(store, "paused")).unlisted).toBeUndefined();
  });

  test("is found although no other list has it either", async () => {
    await forgetLanes();
    await client.call("DEL", [key(`status:active:${workflow}`)]);
    expect(namesOf((await store.listInstances({ limit: 10 })).items)).not.toContain("starts");
    expect(await unlistedIds()).toEqual(wanting);
  });

  test("is put back by the beat of any runner, and goes on where it was", async () => {
    await forgetLanes();
    await client.call("DEL", [key(`status:active:${workflow}`)]);
    await client.call("HDEL", [key(`run:${(await instance(store, "sleeps")).runId}`), "lane"]);
    await store.beat({ runner: runner({ seenAt: at(7) }), tallies: [], forgetBefore: 0 });
    expect(await unlistedIds()).toEqual([]);
    expect(await codes()).not.toContain("RUNS_UNLISTED");
    expect(namesOf((await store.listInstances({ limit: 10 })).items)).toContain("starts");
    expect((await claimIds(store, at(7))).toSorted()).toEqual(["again", "sleeps", "starts"]);
    expect((await claimOne(store, "held", at(leaseMs))).crashCount).toBe(1);
  });

  test("is put back by a pause and a resume", async () => {
    await forgetLanes();
    for (const id of ["starts", "sleeps"]) {
      await write(store, pause(id), at(6));
      await write(store, resume(id), at(7));
    }
    expect((await claimIds(store, at(7))).toSorted()).toEqual(["sleeps", "starts"]);
  });

  test("whose instance is damaged is left alone, and not looked for again and again", async () => {
    await forgetLanes();
    await client.call("DEL", [key(`instance:${workflow.length}:${workflow}:starts`)]);
    const beat = { runner: runner({ seenAt: at(7) }), tallies: [], forgetBefore: 0 };
    await store.beat(beat);
    const before = scans;
    expect(before).toBeGreaterThan(0);
    await store.beat(beat);
    expect(scans).toBe(before);
    expect(await claimIds(store, at(7))).not.toContain("starts");
  });

  async function countingScans(): Promise<RedisDriver> {
    const { create } = await loadDriver();
    return {
      create: (url, options) => {
        const made = create(url, options);
        const call = made.call.bind(made);
        made.call = (command, args) => {
          if (command === "SCAN") scans += 1;
          return call(command, args);
        };
        return made;
      },
    };
  }

  const key = (name: string): string => `{${namespaceOf(store)}}:${name}`;

  async function forgetLanes(): Promise<void> {
    for (const lane of ["starting", "resuming", "held"])
      await client.call("DEL", [key(`due:${lane}:${workflow}`)]);
  }

  async function unlistedIds(): Promise<readonly string[]> {
    return namesOf((await store.listUnlisted({ limit: 100 })).items);
  }

  async function codes(): Promise<readonly string[]> {
    return (await store.warnings()).map(({ code }) => code);
  }
});

function namesOf(items: readonly { readonly instanceId: string }[]): readonly string[] {
  return items.map(({ instanceId }) => instanceId).toSorted();
}

function runner(facts: Partial<RunnerRecord>): RunnerRecord {
  return {
    ...{ owner: "r", host: null, pid: null, startedAt: 0, seenAt: 0, stoppedAt: null },
    ...{ concurrency: 1, turns: 0, workflows: [workflow] },
    ...facts,
  };
}
