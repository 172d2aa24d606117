import { inspect } from "node:util";
import { expect, test } from "vitest";
import { type PostgresOptions, postgres } from "./index.ts";
import { readOptions } from "./options.ts";

const url = "postgres://ann:s3cr%40t@db.example:5433/app";

test("a URL is enough, and the rest has good defaults", () => {
  expect(readOptions(url)).toMatchObject({
    namespace: "everstep",
    max: 10,
    clock: "store",
    statementTimeoutMs: 15_000,
    lockTimeoutMs: 5_000,
    pooling: expect.objectContaining({ isPooled: false }),
    place: 'The database "app" on db.example:5433',
  });
});

test("what is given beside the URL goes before what it says", () => {
  const { place, connect } = readOptions({
    url,
    host: "other",
    database: "b",
    user: "bob",
    password: "p@ss",
  });
  expect(place).toBe('The database "b" on other:5433');
  expect(connect.connectionString).toBe("postgres://bob:p%40ss@other:5433/b");
});

test.each<[string, PostgresOptions]>([
  ["a namespace with other signs", { url, namespace: "Every-Step" }],
  ["a namespace that is too long", { url, namespace: "a".repeat(32) }],
  ["a namespace that tries to end its quotes", { url, namespace: 'x"; DROP SCHEMA app' }],
  ["a namespace that PostgreSQL keeps for itself", { url, namespace: "pg_everstep" }],
  ["no connection at all", { url, max: 0 }],
  ["half a connection", { url, max: 1.5 }],
  ["another clock", { url, clock: "mine" as "store" }],
  ["a time limit that is none", { url, statementTimeoutMs: 0 }],
  ["a time limit that is no number", { url, lockTimeoutMs: Number.NaN }],
])("%s is refused with what is allowed", (_name, options) => {
  expect(() => postgres(options)).toThrow(
    expect.objectContaining({ code: "INVALID_ARGUMENT", message: expect.stringMatching(/^postgres\(\) /) }),
  );
});

test.each(["mysql://ann:s3cret@db/app", "s3cret", "", "postgres://ann:s3cret@db:port/app"])(
  "a URL that is none is refused without repeating it",
  (wrong) => {
    const error = caught(() => postgres(wrong));
    expect(error).toMatchObject({ code: "INVALID_ARGUMENT" });
    expect(inspect(error, { depth: 10 })).not.toContain("s3cret");
  },
);

test("a password is shown nowhere (R-096)", async () => {
  const secret = "pl4nted";
  const store = postgres({ url: `postgres://ann:${secret}@127.0.0.1:1/app`, password: secret });
  const failure = await store
    .getInstance({ workflowName: "w", instanceId: "i" })
    .catch((error: unknown) => error);
  expect(failure).toMatchObject({ code: "STORE_UNAVAILABLE", failure: "unavailable" });
  for (const shown of [store, failure]) {
    expect(inspect(shown, { depth: 10, showHidden: true })).not.toContain(secret);
    expect(JSON.stringify(shown)).not.toContain(secret);
    expect(String(shown)).not.toContain(secret);
  }
  await store.close();
});

function caught(act: () => unknown): unknown {
  try {
    act();
  } catch (error) {
    return error;
  }
  return undefined;
}
