import { afterAll, describe, expect, test } from "vitest";
import { postgresPlace, postgresUrl } from "../../../../../tests/support/postgres-place.ts";
import { unescapeText } from "../sql/rows/text-escape.ts";
import { integerArray, textArray } from "./statements.ts";

describe.skipIf(postgresUrl === undefined)(
  "a column as one parameter of PostgreSQL (set EVERSTEP_POSTGRES_URL to run these)",
  () => {
    const place = postgresPlace();
    afterAll(() => place.clear());

    test("integers arrive as they are, those beyond 32 bits, below zero and none too", async () => {
      const { MAX_SAFE_INTEGER: most, MIN_SAFE_INTEGER: least } = Number;
      const given = [0, 1, -1, null, 0xffff_ffff, 0x1_0000_0000, -0x1_0000_0000, -0x1_0000_0001, most, least];
      const sql =
        "SELECT v.n::text AS n FROM unnest($1::bigint[]) WITH ORDINALITY AS v (n, place) ORDER BY v.place";
      const rows = await place.query(sql, [integerArray(given)]);
      expect(rows.map(({ n }) => (n === null ? null : Number(n)))).toEqual(given);
    });

    test("texts arrive letter by letter, whatever needs quoting elsewhere and what the server cannot keep", async () => {
      const given = [
        "",
        "plain",
        null,
        '{"a":"b\\\\c"}',
        "NULL",
        "{,}",
        "ä€😀",
        "nul\u0000",
        "lone \ud800",
        "\u0001",
      ];
      const sql = "SELECT v.t FROM unnest($1::text[]) WITH ORDINALITY AS v (t, place) ORDER BY v.place";
      const rows = await place.query(sql, [textArray(given)]);
      expect(rows.map(({ t }) => (t === null ? null : unescapeText(t as string)))).toEqual(given);
    });

    test("no rows at all are an empty table", async () => {
      const sql = "SELECT * FROM unnest($1::bigint[], $2::text[]) AS v (n, t)";
      expect(await place.query(sql, [integerArray([]), textArray([])])).toEqual([]);
    });
  },
);
