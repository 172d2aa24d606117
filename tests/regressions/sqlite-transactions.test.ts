import { createWorkflows } from "everstep";
import { type SqliteDriver, sqlite } from "everstep/sqlite";
import { expect, test } from "vitest";
import { nodeDriver } from "../../packages/everstep/src/stores/sqlite/driver.ts";
import { mixed } from "./actor.ts";
import { quiet } from "./quiet.ts";

/** Notes every write in a transaction that was begun for reading: it would fail at once when another process writes. */
function watchingDriver(): {
  readonly driver: SqliteDriver;
  readonly seen: string[];
  readonly upgraded: string[];
} {
  const seen: string[] = [];
  const upgraded: string[] = [];
  let begun = "";
  const note = (sql: string): void => {
    seen.push(sql);
    if (/^\s*BEGIN/.test(sql)) begun = sql;
    if (/^\s*(COMMIT|ROLLBACK)/.test(sql)) begun = "";
    const isReading = /^\s*BEGIN(?! IMMEDIATE| EXCLUSIVE)/.test(begun);
    if (isReading && /^\s*(INSERT|UPDATE|DELETE|REPLACE|CREATE|WITH)/.test(sql)) upgraded.push(sql);
  };
  const driver: SqliteDriver = {
    ...nodeDriver,
    async open(path, options) {
      const opened = await nodeDriver.open(path, options);
      const noting = <Statement extends object>(sql: string, statement: Statement): Statement =>
        new Proxy(statement, {
          get: (target, name) => {
            const method = Reflect.get(target, name);
            return typeof method !== "function"
              ? method
              : (...values: unknown[]) => {
                  note(sql);
                  return method.apply(target, values);
                };
          },
        });
      return Object.create(opened, {
        exec: { value: (sql: string) => [note(sql), opened.exec(sql)] },
        prepare: { value: (sql: string) => noting(sql, opened.prepare(sql)) },
        prepareTuples: { value: (sql: string) => noting(sql, opened.prepareTuples(sql)) },
      });
    },
  };
  return { driver, seen, upgraded };
}

test("R-084 the SQLite store never writes in a transaction that it began for reading", async () => {
  const { driver, seen, upgraded } = watchingDriver();
  const app = createWorkflows({
    workflows: { MIXED: mixed },
    store: sqlite({ path: ":memory:", driver }),
    runner: { maxResidents: 0 },
    ...quiet(),
  });
  await app.start();
  const instances = await app.workflows.MIXED.createBatch([
    { id: "a" },
    { id: "b" },
    { id: "c", retention: 0 },
  ]);
  for (const instance of instances) {
    await instance.pause();
    await instance.resume();
    await instance.sendEvent({ type: "note" });
    expect(await instance.result({ timeout: "60 seconds" })).toMatchObject({ status: "complete" });
    await instance.history();
    await instance.logs();
  }
  await instances[0]?.restart();
  await instances[0]?.terminate();
  await app.publish("nobody");
  await app.waiters("nobody");
  await app.workflows.MIXED.list();
  await app.counts();
  await app.prune();
  await app.stop();
  expect(upgraded).toEqual([]);
  expect(seen.filter((sql) => sql.startsWith("BEGIN IMMEDIATE")).length).toBeGreaterThan(5);
  expect(seen.filter((sql) => sql.startsWith("BEGIN DEFERRED")).length).toBeGreaterThan(0);
});
