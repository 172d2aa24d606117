import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Boundary } from "../../model/boundary.ts";
import type { Claim } from "../../model/lease.ts";
import { claimOne, started, write } from "../../testing/store-contract/acts.ts";
import {
  at,
  awaiting,
  awaitingTopic,
  begun,
  boundary,
  commit,
  complete,
  completed,
  create,
  errored,
  errorOut,
  leaseMs,
  never,
  pause,
  repeatTokens,
  sendEvent,
  sleeping,
  suspendUntil,
  terminateSelf,
} from "../../testing/store-contract/given.ts";
import type { RedisClient } from "./driver.ts";
import type { RedisStore } from "./redis-store.ts";
import { keysOf, namespaceOf, openClient, openFresh, redisUrl, removeTestKeys } from "./test-support.ts";

type Commit = (claim: Claim, boundary: Boundary, now: number, leaseUntil?: number) => Promise<unknown>;

/** What happens to the instance "a"; whatever is committed goes one way or the other. */
type Story = (store: RedisStore, committed: Commit) => Promise<unknown>;

const inFlight = [begun("next#1")];
const goOn = (number: number, facts: Partial<Boundary> = {}): Boundary => boundary(number, facts);

const stories: readonly (readonly [string, Story])[] = [
  [
    "steps, one commit after the other, to the end",
    async (store, committed) => {
      const claim = await started(store, "a");
      await committed(claim, goOn(1, { steps: [completed(1)], begun: inFlight }), at(1));
      await committed(claim, goOn(2, { steps: [completed(2), errored(3)], begun: inFlight }), at(2));
      await committed(claim, goOn(3, { begun: [] }), at(3));
      await committed(claim, boundary(4, { steps: [completed(4)], next: complete() }), at(4));
    },
  ],
  [
    "no step at all",
    async (store, committed) => {
      const claim = await started(store, "a");
      await committed(claim, goOn(1, { begun: inFlight }), at(1));
      await committed(claim, boundary(2, { begun: inFlight, next: complete() }), at(2));
    },
  ],
  [
    "a dead letter that is kept for a while",
    async (store, committed) => {
      const claim = await started(store, "a", { retentionMs: 100 });
      await committed(claim, boundary(1, { steps: [errored(1)], next: errorOut("e", true) }), at(1));
    },
  ],
  [
    "an end by itself",
    async (store, committed) =>
      committed(await started(store, "a"), boundary(1, { next: terminateSelf() }), at(1)),
  ],
  [
    "sleeps that end, and a wait that begins again",
    async (store, committed) => {
      const first = await started(store, "a");
      const asleep = [completed(1), sleeping(2, at(10)), sleeping(3, at(20))];
      await committed(first, boundary(1, { steps: asleep, next: suspendUntil(at(10)) }), at(1));
      const second = await claimOne(store, "a", at(10));
      await committed(second, goOn(1, { steps: [completed(2)], begun: inFlight }), at(11));
      const again = [completed(4), sleeping(3, at(40))];
      await committed(second, boundary(2, { steps: again, next: suspendUntil(at(40)) }), at(12));
      const third = await claimOne(store, "a", at(40));
      await committed(third, boundary(1, { steps: [completed(3)], next: complete() }), at(41));
    },
  ],
  [
    "a settled step that is given once more, otherwise",
    async (store, committed) => {
      const claim = await started(store, "a");
      await committed(claim, goOn(1, { steps: [completed(1)] }), at(1));
      await committed(
        claim,
        goOn(2, { steps: [errored(1), sleeping(1, at(9))] as Boundary["steps"] }),
        at(2),
      );
      const again = boundary(3, { steps: [sleeping(1, at(9))], next: suspendUntil(at(9)) });
      await committed(claim, again, at(3));
    },
  ],
  [
    "an event that the turn has not seen",
    async (store, committed) => {
      const claim = await started(store, "a");
      await write(store, sendEvent("a", "e1", "x"), at(1));
      await committed(
        claim,
        boundary(1, { steps: [awaiting(1, "x", at(50))], next: suspendUntil(at(50)) }),
        at(2),
      );
    },
  ],
  [
    "a wait on a topic, beside one that is on none",
    async (store, committed) => {
      const first = await started(store, "a");
      const waits = [awaitingTopic(1, "news", never), sleeping(2, at(10))];
      await committed(first, boundary(1, { steps: waits, next: suspendUntil(at(10)) }), at(1));
      const second = await claimOne(store, "a", at(10));
      await committed(second, goOn(1, { steps: [completed(2)] }), at(11));
      await committed(second, goOn(2, { steps: [completed(1)] }), at(12));
      await committed(second, boundary(3, { next: complete() }), at(13));
    },
  ],
  [
    "a pause, a repeat and another token",
    async (store, committed) => {
      const claim = await started(store, "a");
      const first = goOn(1, { steps: [completed(1)] });
      await committed(claim, first, at(1));
      await committed(claim, first, at(2));
      await write(store, { ...pause("a"), id: "p" }, at(3));
      await committed(claim, goOn(2, { steps: [completed(2)] }), at(4));
      await committed(claim, boundary(3, { next: suspendUntil(at(50)) }), at(5));
      await committed(claim, boundary(4, { next: complete() }), at(6));
    },
  ],
  [
    "a lease that shall last longer",
    async (store, committed) => {
      const claim = await started(store, "a");
      await committed(claim, goOn(1, { steps: [completed(1)] }), at(1), at(leaseMs + 1));
      await committed(claim, goOn(2, { steps: [completed(2)] }), at(2), at(leaseMs));
      await committed(claim, goOn(3, { steps: [completed(3)] }), at(3), 0);
    },
  ],
  [
    "a crash before",
    async (store, committed) => {
      await started(store, "a");
      const claim = await claimOne(store, "a", at(leaseMs));
      await committed(claim, goOn(1, { steps: [completed(1)] }), at(leaseMs + 1));
    },
  ],
];

describe.skipIf(redisUrl === undefined)("the shorter way of a commit", () => {
  let client: RedisClient;
  beforeAll(async () => {
    client = await openClient();
  });
  afterAll(async () => {
    await removeTestKeys(client);
    client.disconnect();
  });

  test.each(stories)("answers and leaves behind what the longer one does: %s", async (_what, story) => {
    const shorter = await told(story, false);
    expect(shorter.answers.length).toBeGreaterThan(0);
    expect(shorter).toEqual(await told(story, true));
  });

  test("works on many runs at once, beside creations", async () => {
    const store = openFresh();
    const lease = { owner: "me", until: at(leaseMs) };
    const made = await store.write(
      Array.from({ length: 300 }, (_unused, n) => create(`i${n}`, { lease })),
      at(0),
    );
    const claims = made.map((outcome) => (outcome.kind === "created" ? outcome.claim : null) as Claim);
    expect(new Set(claims.map((claim) => claim.lease.runId)).size).toBe(300);
    const outcomes = await store.write(
      claims.flatMap((claim, n) => [
        commit(claim.lease, boundary(1, { steps: [completed(1)], next: complete() })),
        create(`later ${n}`),
      ]),
      at(1),
    );
    expect(new Set(outcomes.map(({ kind }) => kind))).toEqual(new Set(["committed", "created"]));
    expect(await store.countByStatus()).toMatchObject({ active: 300, complete: 300 });
    await store.close();
  });

  /** Mutations that write nothing make a commit take the longer way. */
  async function told(story: Story, isLong: boolean): Promise<{ answers: unknown[]; keys: unknown }> {
    repeatTokens();
    const store = openFresh();
    const answers: unknown[] = [];
    await write(store, create("beside", { dueAt: never }), at(0));
    await story(store, async (claim, wanted, now, leaseUntil = 0) => {
      const mutations = isLong ? { serviceCalls: [], mutate: [] } : null;
      answers.push(await write(store, commit(claim.lease, wanted, { mutations, leaseUntil }), now));
    });
    const keys = await contentOf(namespaceOf(store));
    await store.close();
    return { answers, keys };
  }

  /** Every key with its content. A count that is not there is 0. */
  async function contentOf(namespace: string): Promise<Record<string, unknown>> {
    const content: Record<string, unknown> = {};
    for (const key of await keysOf(client, namespace)) {
      const name = key.slice(`{${namespace}}:`.length);
      if (name !== "meta") content[name] = await read(key);
    }
    return content;
  }

  async function read(key: string): Promise<unknown> {
    switch (await client.call("TYPE", [key])) {
      case "hash":
        return pairs((await client.call("HGETALL", [key])) as string[]).filter(
          (pair) => !pair.endsWith("=0"),
        );
      case "zset":
        return pairs((await client.call("ZRANGE", [key, "0", "-1", "WITHSCORES"])) as string[]);
      case "set":
        return ((await client.call("SMEMBERS", [key])) as string[]).sort();
      default:
        return client.call("GET", [key]);
    }
  }
});

function pairs(flat: readonly string[]): string[] {
  return flat.flatMap((name, n) => (n % 2 === 0 ? [`${name}=${flat[n + 1]}`] : [])).sort();
}
