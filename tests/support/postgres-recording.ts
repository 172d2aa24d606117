/** For tests of what statements there are, and how the server goes about them. */
import { lacks, type StoreCapabilities } from "../../packages/everstep/src/store/capabilities.ts";
import type { PostgresClient } from "../../packages/everstep/src/stores/postgres/driver.ts";
import { ownPlans } from "../../packages/everstep/src/stores/postgres/session.ts";
import { rendering } from "../../packages/everstep/src/stores/postgres/statements.ts";
import type { Dialect } from "../../packages/everstep/src/stores/sql/dialect.ts";
import { ServerStore } from "../../packages/everstep/src/stores/sql/server/server-store.ts";
import type { Database, Statement, Transaction } from "../../packages/everstep/src/stores/sql/session.ts";
import type { PostgresPlace } from "./postgres-place.ts";

/** Keeps every statement that goes through it. */
export function recording(inner: Database, seen: Statement[]): Database {
  return {
    run(statements, use) {
      seen.push(...statements);
      return inner.run(statements, use);
    },
    transact: (work, use) =>
      inner.transact((tx) => {
        const watched: Transaction = {
          client: tx.client,
          run(statements) {
            seen.push(...statements);
            return tx.run(statements);
          },
          commit(statements) {
            seen.push(...statements);
            return tx.commit(statements);
          },
        };
        return work(watched);
      }, use),
    close: () => inner.close(),
  };
}

/** The store itself, over such a database. */
export class RecordedStore extends ServerStore {
  constructor(database: Database, dialect: Dialect) {
    const refuse = (): never => {
      throw new Error("Not for this.");
    };
    super({ capabilities: noCapabilities, database, dialect, runMutations: refuse, sessionOf: refuse });
  }

  async migrate(): Promise<never> {
    throw new Error("Not for this.");
  }
}

const none = lacks("only its statements are looked at");
const noCapabilities: StoreCapabilities = {
  durable: none,
  shared: none,
  mutations: none,
  transactions: none,
  nudges: none,
  ownership: none,
};

export type PlansClient = PostgresClient & { release(): void };

/** One that plans as the store's own connections do. */
export async function plansClient(place: PostgresPlace): Promise<PlansClient> {
  const client = await place.client();
  await client.query(ownPlans);
  return client;
}

/** The plan for any values, as the rows of EXPLAIN. */
export async function explained(client: PlansClient, sql: string, format = "TEXT"): Promise<ExplainRow[]> {
  const { text } = rendering(false)({ sql, values: [] });
  const numbers = [...text.matchAll(/\$(\d+)/g)].map(([, number]) => Number(number));
  const none = Array.from({ length: Math.max(0, ...numbers) }, () => "NULL");
  await client.query(`PREPARE explained AS ${text}`);
  try {
    const values = none.length === 0 ? "" : `(${none.join(", ")})`;
    return (await client.query(`EXPLAIN (FORMAT ${format}) EXECUTE explained${values}`)).rows;
  } finally {
    await client.query("DEALLOCATE explained");
  }
}

// biome-ignore lint/suspicious/noExplicitAny: a line of text or a whole tree, as the format wants it
type ExplainRow = { readonly "QUERY PLAN": any };
