import { expect, test } from "vitest";
import { readFacts } from "./session.ts";

const settled = {
  packet: 16_777_216,
  mode: "STRICT_TRANS_TABLES,STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION",
  charset: "utf8mb4",
  zone: "+00:00",
  autocommit: 1,
};
const read = (facts: object, galera: readonly object[] = []) =>
  readFacts([{}, {}, {}, galera, [{ ...settled, ...facts }]], "The database");

test("a session that is as it was set tells how much fits in a packet", () => {
  expect(read({})).toEqual({ maxPacketBytes: 16_777_216, isGalera: false });
});

test("a node of Galera is told from other servers, so that it is made to catch up before it answers", () => {
  const wsrep = (Value: string) => [{ Variable_name: "wsrep_on", Value }];
  expect(read({}, wsrep("ON"))).toMatchObject({ isGalera: true });
  expect(read({}, wsrep("OFF"))).toMatchObject({ isGalera: false });
});

test.each([
  { mode: "NO_ENGINE_SUBSTITUTION" },
  { mode: `${settled.mode},NO_BACKSLASH_ESCAPES` },
  { mode: `ANSI_QUOTES,${settled.mode}` },
  { charset: "latin1" },
  { charset: "gbk" },
  { zone: "SYSTEM" },
  { autocommit: 0 },
])("one that is at %j all the same is not used", (facts) => {
  expect(() => read(facts)).toThrow(
    expect.objectContaining({ failure: "fatal", message: expect.stringContaining("proxy") }),
  );
});
