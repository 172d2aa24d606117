/** Headers as they are typed: one that can be sent, or none. */
import fc from "fast-check";
import { afterEach, beforeEach, expect, test } from "vitest";
import { parseHeader } from "../../packages/everstep/src/cli/connection/header.ts";
import { UsageError } from "../../packages/everstep/src/cli/problems.ts";
import { ScriptedServer } from "../support/scripted-server.ts";
import { everstep } from "./support/everstep.ts";

let server: ScriptedServer;
beforeEach(async () => {
  server = await ScriptedServer.open("/api/workflows");
});
afterEach(() => server.close());

test.each(["X-A: b\r\nX-Forged: c", "X-A: b\nX-Forged: c", "X-A: b\rX-Forged: c", ": value", "X A: b"])(
  "SEC-9: -H %j is refused before anything is sent",
  async (header) => {
    const ran = await everstep(["workflows", "list", "--url", server.url, "-H", header]);
    expect(ran).toMatchObject({ code: 64, out: "" });
    expect(server.requests).toEqual([]);
  },
);

test("SEC-9: whatever is typed as a header, it is refused, or it is one header that can be sent", () => {
  const part = fc.string({
    unit: fc.oneof(fc.constantFrom(":", "\r", "\n", "\0", " ", "\t", "é"), fc.string()),
  });
  fc.assert(
    fc.property(part, (text) => {
      let header: { readonly name: string; readonly value: string };
      try {
        header = parseHeader(text, "The header");
      } catch (error) {
        expect(error).toBeInstanceOf(UsageError);
        return;
      }
      const sent = [...new Headers([[header.name, header.value]])];
      expect(sent).toEqual([[header.name.toLowerCase(), header.value]]);
    }),
    { numRuns: 2000 },
  );
});

test("SEC-9: headers arrive as they were typed, all of them", async () => {
  server.script({ json: { workflows: [] } });
  await everstep([
    "workflows",
    "list",
    "--url",
    server.url,
    "-H",
    "X-A: 1",
    "--header=X-B: two, 2",
    "-HX-A: 3",
  ]);
  expect(server.requests[0]?.headers).toMatchObject({ "x-a": "1, 3", "x-b": "two, 2" });
});
