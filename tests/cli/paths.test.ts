/** Names in paths: one segment, whatever is typed. */
import { afterEach, beforeEach, expect, test } from "vitest";
import { ScriptedServer } from "../support/scripted-server.ts";
import { everstep } from "./support/everstep.ts";

let server: ScriptedServer;
beforeEach(async () => {
  server = await ScriptedServer.open("/api/workflows");
});
afterEach(() => server.close());

const ids = ["../x", "..", "%2e%2e", "..%2f", "a/b", "a?b#c", "a\\b", "%252e%252e%252fx", "ü"];

test.each([
  ...ids.map((id) => ["instances get", id] as const),
  ...["../x", "..%2f"].map((id) => ["instances terminate", id] as const),
])(
  "R-094, SEC-10: everstep %s with the id %j asks for one segment under the workflow, or for nothing",
  async (command, id) => {
    const problem = { error: { code: "INSTANCE_NOT_FOUND", message: "There is none.", docs: "" } };
    const answer = { status: 404, json: problem };
    server.script(answer, answer, answer);
    const ran = await everstep([
      ...command.split(" "),
      "--url",
      server.url,
      "--workflow",
      "order",
      `--id=${id}`,
    ]);
    // What no instance can be called is refused here; anything else the server is asked.
    expect(ran.code).toBe(server.requests.length === 0 ? 64 : 70);
    for (const { url } of server.requests) {
      const path = new URL(url, "http://x").pathname;
      expect(path).toBe(url.split("?")[0]);
      const [, under, id1] =
        /^\/api\/workflows\/workflows\/order\/instances\/([^/]+)(\/[\w-]+)?$/.exec(path) ?? [];
      expect(decodeURIComponent(`${under}`)).toBe(id);
      expect(id1 ?? "/terminate").toMatch(/^\/(why|history|terminate)$/);
    }
  },
);

test("R-094, SEC-10: names of workflows and topics are one segment too", async () => {
  const workflow = await everstep(["instances", "list", "../../admin", "--url", server.url]);
  const topic = await everstep(["emit", "../instances", "--url", server.url]);
  expect([workflow.code, topic.code]).toEqual([64, 64]);
  expect(server.requests).toEqual([]);
});
