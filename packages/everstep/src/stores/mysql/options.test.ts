import { inspect } from "node:util";
import { expect, test } from "vitest";
import { mysql } from "./index.ts";
import { readOptions } from "./options.ts";

test("a URL alone is enough, and the defaults are the safe ones", () => {
  expect(readOptions("mysql://ann:s%40cret@db.example:3307/app")).toMatchObject({
    connect: { host: "db.example", port: 3307, user: "ann", password: "s@cret", database: "app" },
    namespace: "everstep",
    max: 10,
    clock: "store",
    statementTimeoutMs: 15_000,
    lockTimeoutMs: 5_000,
    connectTimeoutMs: 10_000,
    place: 'The database "app" on db.example:3307',
  });
});

test("options go before what the URL says", () => {
  const { connect } = readOptions({ url: "mariadb://ann@a:1/x", host: "b", database: "y", password: "p" });
  expect(connect).toEqual({ host: "b", port: 1, user: "ann", password: "p", database: "y" });
});

test("an IPv6 address and a socket are places too", () => {
  expect(readOptions("mysql://[::1]/x").connect.host).toBe("::1");
  expect(readOptions({ socketPath: "/run/mysqld.sock", database: "x" }).place).toContain("/run/mysqld.sock");
});

test("an encrypted connection checks whose certificate it gets", () => {
  expect(readOptions("mysql://h/x?ssl=true").connect.ssl).toEqual({ verifyIdentity: true });
  expect(readOptions({ url: "mysql://h/x", ssl: true }).connect.ssl).toEqual({ verifyIdentity: true });
  expect(readOptions({ url: "mysql://h/x", ssl: { ca: "mine" } }).connect.ssl).toEqual({ ca: "mine" });
  expect(readOptions("mysql://h/x?ssl=false").connect.ssl).toBeUndefined();
});

test.each([
  ["", /URL/],
  ["postgres://h/x", /mysql:\/\//],
  ["mysql://h", /name of a database/],
  ["mysql://h/x?multipleStatements=false", /"multipleStatements"/],
  ["mysql://h/x?ssl=maybe", /ssl=true and ssl=false/],
  ["mysql://h/%", /percent-encoded/],
  [undefined, /name of a database/],
  [{ database: "x", namespace: "Every" }, /namespace/],
  [{ database: "x", namespace: "a`; DROP TABLE b" }, /namespace/],
  [{ database: "x", namespace: "x".repeat(32) }, /31/],
  [{ database: "x", max: 0 }, /1 to 1000/],
  [{ database: "x", clock: "mine" }, /"store" and "caller"/],
  [{ database: "x", statementTimeoutMs: 99 }, /statementTimeoutMs/],
  [{ database: "x", lockTimeoutMs: 1.5 }, /lockTimeoutMs/],
  [{ database: "x", connectTimeoutMs: Number.NaN }, /connectTimeoutMs/],
])("%j is refused with what would be right", (options, sentence) => {
  expect(() => mysql(options as never)).toThrow(sentence);
});

test("a password is in no message and in nothing that is shown (R-096)", async () => {
  const secret = "hunter2";
  expect(() => mysql(`mysql://ann:${secret}@h:99999/x`)).toThrow(expect.not.stringContaining(secret));
  const store = mysql({ url: `mysql://ann:${secret}@127.0.0.1:1/x`, password: secret });
  const failure = await store.migrate().catch((error: unknown) => error);
  const shown = [store, failure].flatMap((each) => [
    inspect(each, { depth: 9, showHidden: true }),
    JSON.stringify(each),
  ]);
  expect(shown.join()).not.toContain(secret);
  expect(failure).toMatchObject({ code: "STORE_UNAVAILABLE", failure: "unavailable" });
  await store.close();
});
