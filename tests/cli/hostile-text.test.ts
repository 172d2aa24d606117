/** Text from servers is shown; it does not steer the terminal. */
import { afterEach, beforeEach, expect, test } from "vitest";
import { ScriptedServer } from "../support/scripted-server.ts";
import { everstep } from "./support/everstep.ts";
import { inTerminal } from "./support/terminal.ts";

let server: ScriptedServer;
beforeEach(async () => {
  server = await ScriptedServer.open("/api/workflows");
});
afterEach(() => server.close());

const evil = "\u001b]0;owned\u0007\u001b[2J\r\u009b31m\u202egnp.\u2028\n$ rm -rf ~";
const instance = {
  id: `id${evil}`,
  details: { status: `errored${evil}`, error: { name: `E${evil}`, message: evil } },
  meta: {
    workflowName: `order${evil}`,
    runNumber: 1,
    params: { [evil]: evil },
    createdAt: "2026-01-31T12:00:00.000Z",
    updatedAt: `2026${evil}`,
    startedAt: null,
    completedAt: null,
    dueAt: null,
    deadlineAt: null,
    retentionUntil: null,
    parent: { workflowName: evil, instanceId: evil },
    terminationReason: { source: evil, message: evil },
    executing: false,
    queued: false,
    deadLetter: true,
  },
};
const step = {
  stepKey: `step${evil}`,
  name: evil,
  index: 0,
  type: "do",
  status: "errored",
  attempts: 1,
  maxAttempts: 1,
  errors: [],
  error: { name: evil, message: evil },
  parentKey: null,
  depth: 0,
  nextRetryAt: null,
  createdAt: "2026-01-31T12:00:00.000Z",
  settledAt: "2026-01-31T12:00:01.000Z",
};
const log = {
  id: "1-1",
  runNumber: 1,
  stepKey: evil,
  attempt: 2,
  level: `warn${evil}`,
  category: evil,
  message: evil,
  data: evil,
  isReplay: false,
  createdAt: `2026-01-31T12:00:00.000Z${evil}`,
};
const event = {
  id: evil,
  type: evil,
  topic: null,
  payload: evil,
  createdAt: step.createdAt,
  consumedByStepKey: evil,
};
const history = {
  runNumber: 1,
  steps: [step],
  events: [event],
  logs: [log],
  stepsHasNextPage: false,
  eventsHasNextPage: false,
};
const list = { instances: [instance], cursor: evil, hasNextPage: true };
const problem = { status: 400, json: { error: { code: "INVALID_ARGUMENT", message: evil, docs: "" } } };
const waiter = {
  workflowName: evil,
  instanceId: evil,
  runNumber: 1,
  stepKey: evil,
  topic: evil,
  deadlineAt: evil,
};

const cases: readonly [string, readonly object[]][] = [
  ["instances list", [{ json: list }]],
  ["instances list --full", [{ json: list }]],
  ["dead-letters", [{ json: list }]],
  ["instances history order o-1 --include-logs", [{ json: history }, { json: instance }]],
  ["instances logs order o-1", [{ json: { logs: [log], hasNextPage: false } }]],
  [
    "instances why order o-1",
    [{ json: { reason: "paused", answer: evil, advice: evil, status: "paused", warnings: [evil] } }],
  ],
  ["instances export order o-1", [{ json: { format: evil, [evil]: evil } }]],
  ["waiters topic", [{ json: { waiters: [waiter], hasNextPage: false } }]],
  ["instances pause order o-1", [problem]],
];

test.each(cases)("SEC-24: everstep %s shows it, in a pipe", async (line, answers) => {
  server.script(...(answers as never[]));
  const ran = await everstep([...line.split(" "), "--url", server.url]);
  const text = ran.out + ran.err;
  expect(text).toMatch(/owned/);
  expect(steering(text)).toEqual([]);
  expect(text).not.toMatch(/^\$ rm/m);
});

test.each(cases)("SEC-24: everstep %s shows it, at a terminal", async (line, answers) => {
  server.script(...(answers as never[]));
  const { screen } = await inTerminal([...line.split(" "), "--url", server.url], { columns: 300 });
  expect(screen).toMatch(/owned/);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: our own colours are the only codes
  expect(steering(screen.replace(/\u001b\[(?:1|2|22|3[1-6]|39)m/g, ""))).toEqual([]);
  expect(screen).not.toMatch(/^\$ rm/m);
});

function steering(text: string): readonly string[] {
  return text.match(/(?!\n)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu) ?? [];
}
