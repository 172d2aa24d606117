import { expect, test } from "vitest";
import { bareText, isOneStatement, keepsTransaction } from "./transactions.ts";

const fits = (sql: string): boolean => {
  const bare = bareText(sql);
  return isOneStatement(bare) && keepsTransaction(bare);
};

test.each([
  "SELECT 1",
  "  select 1 ; ",
  "(SELECT 1) UNION (SELECT 2)",
  "INSERT INTO t VALUES ('a; COMMIT', \"it's; fine\", '\\'; DROP TABLE x')",
  "INSERT INTO `a;b` (`c``;d`) VALUES ('it''s; fine')",
  "-- COMMIT\nUPDATE t SET a = 1",
  "# COMMIT; ROLLBACK\nDELETE FROM t",
  "/* COMMIT; */ REPLACE INTO t VALUES (1) -- ; COMMIT",
  "WITH x AS (SELECT 1) SELECT * FROM x",
  "SELECT 5--1",
  "SAVEPOINT mine",
  "ROLLBACK TO SAVEPOINT mine",
  "ROLLBACK WORK TO mine",
  "RELEASE SAVEPOINT mine",
  "CREATE TEMPORARY TABLE t (a INT)",
  "CALL do_it()",
  "SELECT '\\\\'",
])("%j is an author's to run", (sql) => {
  expect(fits(sql)).toBe(true);
});

test.each([
  ...["BEGIN", "begin work", "START TRANSACTION", "COMMIT", "  commit", "ROLLBACK", "rollback work"],
  ...[
    "-- a note\nCOMMIT",
    "/* a note */ ROLLBACK",
    "# a note\nCOMMIT",
    ";COMMIT",
    "/*!50000 COMMIT */",
    "/*M! COMMIT */",
  ],
  ...[
    "SELECT 1; COMMIT",
    "SELECT 1;\n-- x\nCOMMIT",
    "SELECT 1 /*! ; COMMIT */",
    "SELECT ''; COMMIT; SELECT ''",
  ],
  ...["SELECT 1 --\u0001 '\n; COMMIT -- '", "SELECT 1 --\u00a0; COMMIT"],
  ...["SELECT '\\'; COMMIT", "SELECT '\\\\'; COMMIT"],
  ...[
    "CREATE TABLE t (a INT)",
    "ALTER TABLE t ADD b INT",
    "DROP TABLE t",
    "TRUNCATE t",
    "RENAME TABLE a TO b",
  ],
  ...["SET autocommit = 0", "SET SESSION sql_mode = ''", "SET @a = 1, @@sql_mode = ''", "USE other"],
  ...[
    "LOCK TABLES t WRITE",
    "UNLOCK TABLES",
    "XA START 'x'",
    "PREPARE s FROM 'COMMIT'",
    "EXECUTE IMMEDIATE 'COMMIT'",
  ],
  ...["GRANT ALL ON *.* TO x", "FLUSH TABLES", "", "-- only a note"],
])("%j is not", (sql) => {
  expect(fits(sql)).toBe(false);
});
