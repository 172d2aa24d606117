import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { postgresPlace, postgresUrl } from "../../../../../tests/support/postgres-place.ts";
import {
  explained,
  type PlansClient,
  plansClient,
  RecordedStore,
  recording,
} from "../../../../../tests/support/postgres-recording.ts";
import type { Boundary } from "../../model/boundary.ts";
import type { Lease } from "../../model/lease.ts";
import type { StoreRequest } from "../../store/store.ts";
import {
  at,
  awaiting,
  boundary,
  claimRequest,
  commit,
  complete,
  completed,
  create,
  logLine,
  never,
  ref,
  sendEvent,
  suspendUntil,
  workflow,
} from "../../testing/store-contract/given.ts";
import { claims } from "../sql/lease/claim.ts";
import type { Database, Statement } from "../sql/session.ts";
import { quickFirst } from "../sql/write/quick-write.ts";
import { runIds } from "../sql/write/run-ids.ts";
import { postgresDialect } from "./dialect.ts";
import type { PostgresStore } from "./index.ts";
import { readOptions } from "./options.ts";
import { PostgresDatabase } from "./session.ts";

/**
 * A plan that is kept must be good for tables of any size, so it must be the same whether it is made while they are
 * nearly empty, where reading one from end to end costs nothing, or later.
 */
describe.skipIf(postgresUrl === undefined)(
  "plans that PostgreSQL keeps (set EVERSTEP_POSTGRES_URL to run these)",
  () => {
    const place = postgresPlace();
    const seen: Statement[] = [];
    let store: PostgresStore;
    let inner: PostgresDatabase;
    let database: Database;
    let client: PlansClient;
    let namespace = "";

    beforeAll(async () => {
      store = place.open();
      await store.migrate();
      namespace = place.namespaceOf(store);
      inner = new PostgresDatabase(readOptions({ url: postgresUrl as string, namespace }));
      database = recording(inner, seen);
      client = await plansClient(place);
      await analyze();
    });
    afterAll(async () => {
      client.release();
      await inner.close();
      await store.close();
      await place.clear();
    });

    const analyze = async (): Promise<void> => {
      for (const table of ["instance", "run", "ending", "step", "event", "log"]) {
        await place.query(`VACUUM ANALYZE "${namespace}".${table}`);
      }
    };

    /** Every look into a table that is not by key, in the plans of all that was asked for. */
    const looksWithoutKey = async (): Promise<string[]> => {
      const kept = new Set(seen.filter(({ isPlannedOnce }) => isPlannedOnce).map(({ sql }) => sql));
      seen.length = 0;
      expect(kept.size).toBeGreaterThan(0);
      const found: string[] = [];
      for (const sql of kept) {
        const [row] = await explained(client, sql, "JSON");
        for (const node of nodesOf(row?.["QUERY PLAN"][0].Plan)) {
          if (isWithoutKey(node)) found.push(`${node["Node Type"]} of ${node["Relation Name"]} in: ${sql}`);
        }
      }
      return found;
    };

    /** The same while the tables are empty, and again with a few rows in them. */
    const expectKeys = async (act: () => Promise<unknown>): Promise<void> => {
      await act();
      expect(await looksWithoutKey()).toEqual([]);
      await analyze();
      await act();
      expect(await looksWithoutKey()).toEqual([]);
    };

    const quick = () => {
      const dialect = postgresDialect(namespace);
      const apply = dialect.applyQuickly as NonNullable<typeof dialect.applyQuickly>;
      const write = quickFirst(apply, database, runIds(inner, dialect), () => {
        throw new Error("not the common kind");
      });
      return async (...requests: StoreRequest[]) => (await write(requests, at(5))).outcomes;
    };
    let made = 0;
    const leased = async (size: number): Promise<Lease[]> => {
      const requests = Array.from({ length: size }, () => {
        made += 1;
        return create(`i${made}`, { lease: { owner: "me", until: never } });
      });
      const outcomes = await quick()(...requests);
      return outcomes
        .flatMap((outcome) => (outcome.kind === "created" ? [outcome.claim as never] : []))
        .map(({ lease }) => lease);
    };

    const nexts: Readonly<Record<string, Partial<Boundary>>> = {
      "a step": { steps: [completed(1)] },
      "nothing new": {},
      "its last step": { steps: [completed(1)], next: complete() },
      "its end": { next: complete() },
      "a wait": { steps: [awaiting(1, "x", never)], next: suspendUntil(never) },
      "several steps": { steps: [completed(1), completed(2), awaiting(3, "x", never)] },
      "several steps at its end": { steps: [completed(1), awaiting(2, "x", never)], next: complete() },
      "lines of a log": { steps: [completed(1)], logs: [logLine("x"), logLine("y")] },
      "an event it took": { steps: [completed(1)], consumed: [{ seq: 1, stepKey: "s" }], next: complete() },
    };

    test.each(Object.entries(nexts))(
      "commits with %s find all by key, one and many",
      async (_what, facts) => {
        await expectKeys(async () => {
          for (const size of [1, 3]) {
            const leases = await leased(size);
            await quick()(...leases.map((lease) => commit(lease, boundary(1, facts))));
          }
        });
      },
    );

    test("creations find all by key: one, many, alike and different ones, with a history, beside commits", async () => {
      await expectKeys(async () => {
        made += 1;
        const parent = ref("p");
        await quick()(create(`a${made}`));
        await quick()(create(`a${made}`), create(`b${made}`));
        await quick()(
          create(`c${made}`, { parent }),
          create(`d${made}`, { lease: { owner: "me", until: never } }),
        );
        await quick()(create(`e${made}`, { history: [completed(1), completed(2)] }));
        const [lease] = await leased(1);
        await quick()(commit(lease as Lease, boundary(1, { steps: [completed(1)] })), create(`f${made}`));
      });
    });

    test("events find all by key, one and many", async () => {
      const { sendQuickly } = postgresDialect(namespace);
      await expectKeys(async () => {
        await sendQuickly?.(database, [sendEvent("i1", `one ${made}`, "x")], at(5));
        const many = ["i2", "i3"].map((id) => sendEvent(id, `${id} ${made}`, "x"));
        await sendQuickly?.(database, many, at(5));
        made += 1;
      });
    });

    test("claims find all by key, with and without a cap", async () => {
      const claim = claims(database, postgresDialect(namespace));
      await expectKeys(async () => {
        for (const concurrency of [null, 3]) {
          await claim(claimRequest({ now: at(1), workflows: [{ name: workflow, concurrency }], limit: 2 }));
        }
      });
    });

    test("what turns and waiting callers read is found by key", async () => {
      const store = new RecordedStore(database, postgresDialect(namespace));
      await expectKeys(async () => {
        await store.readRuns([{ runId: 1, steps: true, eventsAfter: 0 }]);
        await store.getInstance(ref("i1"));
        await store.getStatuses([ref("i1")]);
        await store.nextDueAt([workflow]);
        await store.nextDueAt([workflow, "bill"]);
      });
    });
  },
);

interface PlanNode {
  readonly "Node Type": string;
  readonly "Relation Name"?: string;
  readonly "Index Cond"?: string;
  readonly "TID Cond"?: string;
  readonly Plans?: readonly PlanNode[];
}

function nodesOf(node: PlanNode): readonly PlanNode[] {
  return [node, ...(node.Plans ?? []).flatMap(nodesOf)];
}

function isWithoutKey(node: PlanNode): boolean {
  if (/^(Insert|Update|ModifyTable)/.test(node["Node Type"])) return false;
  if (node["Node Type"] === "Bitmap Heap Scan") return false;
  if (node["Node Type"] === "Bitmap Index Scan") return node["Index Cond"] === undefined;
  return (
    node["Relation Name"] !== undefined && node["Index Cond"] === undefined && node["TID Cond"] === undefined
  );
}
