/** Following log lines: they appear as they are written, and the command ends with the instance. */
import { afterEach, beforeEach, expect, test } from "vitest";
import { ScriptedServer } from "../support/scripted-server.ts";
import { everstep, type RunOptions } from "./support/everstep.ts";

let server: ScriptedServer;
beforeEach(async () => {
  server = await ScriptedServer.open();
});
afterEach(() => server.close());

function line(id: string, message: string) {
  const [runNumber] = id.split("-").map(Number);
  const createdAt = "2026-01-31T12:00:00.000Z";
  const where = { stepKey: "charge", attempt: 2, level: "info", category: "billing" };
  return { id, runNumber, ...where, message, data: null, isReplay: false, createdAt };
}

function follow(options: RunOptions) {
  return everstep(["instances", "logs", "order", "o-1", "--follow", "--url", server.url], options);
}

test("each line appears when it was written, into the next run, until the end", async () => {
  const stream = server.scriptStream();
  const written: string[] = [];
  const send = (id: string, message: string): void => {
    if (written.includes(id)) return;
    written.push(id);
    stream.event("log", line(id, message), id);
  };
  const following = follow({
    // Only when a line is on the screen is the next one written.
    onOutput: (text) => {
      if (text.includes("first")) send("1-2", "second");
      if (text.includes("second")) send("2-1", "third");
      if (text.includes("third")) {
        stream.event("end", { status: "complete" });
        stream.end();
      }
    },
  });
  while (!stream.isOpen) await new Promise((resolve) => setImmediate(resolve));
  send("1-1", "first");
  const ran = await following;
  expect({ code: ran.code, err: ran.err }).toEqual({ code: 0, err: "" });
  expect(ran.out).toMatchInlineSnapshot(`
    "2026-01-31T12:00:00.000Z  info   charge, attempt 2  [billing]  first
    2026-01-31T12:00:00.000Z  info   charge, attempt 2  [billing]  second
    run 2
    2026-01-31T12:00:00.000Z  info   charge, attempt 2  [billing]  third
    "
  `);
});

test("a dropped connection is taken up after the last line, which is not shown twice", async () => {
  const first = server.scriptStream();
  const second = server.scriptStream();
  const following = follow({
    onOutput: (text) => void (text.includes("first") && !second.isOpen && first.cut()),
  });
  while (!first.isOpen) await new Promise((resolve) => setImmediate(resolve));
  first.event("log", line("1-1", "first"), "1-1");
  while (!second.isOpen) await new Promise((resolve) => setImmediate(resolve));
  second.event("log", line("1-2", "second"), "1-2");
  second.event("end", { status: "errored" });
  second.end();
  const ran = await following;
  expect(ran.out.match(/first|second/g)).toEqual(["first", "second"]);
  expect(server.requests[1]?.headers["last-event-id"]).toBe("1-1");
});

test("R-092: Ctrl-C ends it at once, with 130", async () => {
  const stream = server.scriptStream();
  const following = follow({ onOutput: (_, child) => void child.kill("SIGINT") });
  while (!stream.isOpen) await new Promise((resolve) => setImmediate(resolve));
  stream.event("log", line("1-1", "first"), "1-1");
  const ran = await following;
  expect(ran.code).toBe(130);
  expect(ran.lingered).toBeLessThan(10_000);
});
