import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { mysqlPlace, mysqlUrl } from "../../../../../tests/support/mysql-place.ts";
import { readOptions } from "./options.ts";
import { tableNames } from "./schema.ts";
import { MysqlDatabase } from "./session.ts";
import { insertRows, parameterRows, removeRows, updateRows } from "./statements.ts";

/** Texts made of what breaks statements, in every mixture. */
const nasty = fc
  .array(
    fc.constantFrom(
      ...[
        "'",
        '"',
        "`",
        "\\",
        "\0",
        "\n",
        "\r",
        "\u001a",
        "\b",
        "\t",
        "%",
        "_",
        ";",
        "--",
        "-- ",
        "#",
        "/*",
        "*/",
        "/*!",
      ],
      ...[
        "?",
        ":a",
        "@x",
        "é",
        "😀",
        "漢",
        "\ud83d",
        "\ude00",
        "\ud800",
        "\udfff",
        "\ufeff",
        "\u2028",
        "\u0001",
        "0x41",
      ],
      ...[
        "' OR 1=1 -- ",
        "'); DROP TABLE x; -- ",
        "\\'; COMMIT; --",
        "\u00bf'",
        "\u00bf\\'",
        "X'41'",
        "NULL",
        " ",
      ],
    ),
    { maxLength: 12 },
  )
  .map((parts) => parts.join(""));

describe.skipIf(mysqlUrl === undefined)("on a server", () => {
  const place = mysqlPlace();
  let database: MysqlDatabase;
  const names = tableNames(place.database, "fuzz");
  beforeAll(async () => {
    await place.create();
    const store = await place.open({ namespace: "fuzz" });
    await store.migrate();
    await store.close();
    database = new MysqlDatabase(readOptions({ url: place.url, namespace: "fuzz" }));
  });
  afterAll(async () => {
    await database.close();
    await place.drop();
  });

  test("whatever a value holds, it arrives as it was and nothing else happens", async () => {
    const insert = insertRows(names, "log", [
      "run",
      "seq",
      "level",
      "category",
      "message",
      "is_replay",
      "created_at",
    ]);
    const remove = removeRows(names, "log", ["run"]);
    const update = updateRows(names, "log", ["run", "seq"], ["message"]);
    let run = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(nasty, { minLength: 1, maxLength: 5 }), async (texts) => {
        run += 1;
        const rows = texts.map((text, seq) => [run, seq, "info", "x", text, 0, seq]);
        const select = `SELECT l.message FROM ${names.log} l WHERE l.run = ? ORDER BY l.seq`;
        const [inserted, read, , again, removed] = await database.run([
          insert(rows),
          { sql: select, values: [run] },
          update(texts.map((text, seq) => [run, seq, `${text}!`])),
          { sql: select, values: [run] },
          remove([[run]]),
        ]);
        expect(inserted?.changes).toBe(texts.length);
        expect(read?.rows.map(({ message }) => message)).toEqual(texts);
        expect(again?.rows.map(({ message }) => message)).toEqual(texts.map((text) => `${text}!`));
        expect(removed?.changes).toBe(texts.length);
      }),
      { numRuns: 300 },
    );
  });

  test("values come back through a table of parameters, and as bytes told apart", async () => {
    await fc.assert(
      fc.asyncProperty(fc.uniqueArray(nasty, { minLength: 2, maxLength: 6 }), async (texts) => {
        const part = parameterRows("v", ["place", "key"])(texts.map((text, n) => [n, text]));
        const sql = `SELECT v.key, COUNT(*) OVER () AS among FROM (SELECT DISTINCT v.key FROM ${part.sql}) v ORDER BY v.key`;
        const [result] = await database.run([{ sql, values: part.values }]);
        expect(new Set(result?.rows.map(({ key }) => key))).toEqual(new Set(texts));
      }),
      { numRuns: 100 },
    );
  });

  test.each([[["A", "a"]], [["a", "a "]], [["a", "\u00e1", "a\u0301"]], [["ss", "ß"]], [["", " ", "\t"]]])(
    "%j are different ids",
    async (ids) => {
      const insert = insertRows(names, "publication", ["id", "topic", "created_at", "waiters", "runs"]);
      const rows = ids.map((id) => [id, "t", 1, 0, "[]"]);
      const [inserted, found] = await database.run([
        insert(rows),
        { sql: `SELECT p.id FROM ${names.publication} p WHERE p.id = ?`, values: [ids[0]] },
        removeRows(names, "publication", ["id"])(ids.map((id) => [id])),
      ]);
      expect(inserted?.changes).toBe(ids.length);
      expect(found?.rows).toEqual([{ id: ids[0] }]);
    },
  );

  test.each([
    [Number.NaN],
    [Number.POSITIVE_INFINITY],
    [undefined],
    [{}],
    [{ toSqlString: () => "1" }],
    [[]],
    [() => 1],
    [2n ** 60n],
    [new Date(0)],
  ])("%s is no value, and nothing is sent", async (value) => {
    await expect(database.run([{ sql: "SELECT ?", values: [value] }])).rejects.toMatchObject({
      failure: "invalid",
    });
  });

  test("bytes, numbers, flags and null arrive as such", async () => {
    const values = [new Uint8Array([0, 39, 92, 255]), -1.5, 8_640_000_000_000_000, true, null, 7n];
    const sql = "SELECT HEX(?) AS bytes, ? AS half, ? AS far, ? AS flag, ? AS nothing, ? AS big";
    const [result] = await database.run([{ sql, values }]);
    expect(result?.rows).toEqual([
      { bytes: "00275CFF", half: "-1.5", far: 8_640_000_000_000_000, flag: 1, nothing: null, big: 7 },
    ]);
  });
});
