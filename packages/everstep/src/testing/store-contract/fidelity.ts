import type { StoredError } from "../../model/value.ts";
import {
  claimOne,
  committed,
  ended,
  eventsOf,
  instance,
  logsOf,
  snapshot,
  started,
  stepsOf,
  suspended,
  undelivered,
  write,
} from "./acts.ts";
import type { Case } from "./case.ts";
import { equal, matches } from "./check.ts";
import {
  at,
  awaiting,
  awaitingTopic,
  begun,
  boundary,
  change,
  commit,
  completed,
  create,
  errored,
  logLine,
  never,
  publish,
  ref,
  sendEvent,
  suspendUntil,
  value,
} from "./given.ts";

/** Texts that databases like to take for something else, or for each other. */
const hostile = [
  ...["1", "01", "1.0", "1e3", "1000", "0x10", "-0", "NaN", "null", "undefined", "true"],
  ...["A", "a", "ä", "a\u0308", "Ä", "ß", "ss", "a ", " a", "a\t", "ı", "I", "i"],
  ...["constructor", "__proto__", "toString", "hasOwnProperty", "prototype"],
  ...["a:b", "a/b", "a.b", "a%b", "a_b", "a*b", "a?b", "a'b", 'a"b', "a\\b", "{a}", "[a]", "a|b", "a\nb"],
  ...["😀", "😀😀", "\u{10FFFF}", "\uFEFFa", "‮a", "漢字"],
];

/** V8 takes keys that are written with escapes for keys like these, once they exist (model/json.ts). */
const keysLikeEscapes: readonly object[] = [
  { b: 0, "\\": 1 },
  { b: 0, "a\\": 1 },
  { json: "", "\\": 1 },
];

/** JSON texts that must come back letter by letter. */
const texts = [
  ...[
    '{"b":0,"\\n":1}',
    '{"b":0,"\\u0000":1}',
    '{"b":0,"a\\"":1}',
    '{"b":0,"\\ud800":1}',
    JSON.stringify(keysLikeEscapes),
  ],
  ...["null", "false", "0", '""', "-0", "1e400", "12345678901234567890", "0.1", "[]", "{}"],
  ...[
    '{"b":1,"a":2}',
    '{ "spaced" :  1 }',
    '{"a":1,"a":2}',
    '{"__proto__":{"x":1}}',
    '"\\u0000"',
    '"\\ud800"',
  ],
  ...['"\u2028\u2029"', '"😀 漢字 \u0301"', '"\\"quoted\\" \\\\ \'"', '"$1 ? :name @x %s"', '"line\\nbreak"'],
];

export const fidelityCases: readonly Case[] = [
  {
    name: "instance ids are told apart byte by byte, whatever they look like (INV-45)",
    async run({ open }) {
      const store = await open();
      const outcomes = await store.write(
        hostile.map((id) => create(id, { params: value(id) })),
        at(0),
      );
      equal(
        outcomes.map((outcome) => outcome.kind),
        hostile.map(() => "created"),
        "creations",
      );
      for (const id of hostile) {
        matches(
          await instance(store, id),
          { instanceId: id, params: value(id) },
          `instance ${JSON.stringify(id)}`,
        );
      }
      equal((await write(store, create("__proto__"))).kind, "exists", "the second of a name");
    },
  },
  {
    name: "workflow names, event ids, event types, step keys and topics are told apart byte by byte (INV-45)",
    async run({ open }) {
      const store = await open();
      await store.write(
        hostile.map((name) => create("same", { workflowName: name, params: value(name) })),
        at(0),
      );
      for (const name of hostile) {
        const claim = await claimOne(store, "same", at(0), { workflows: [{ name, concurrency: null }] });
        equal(claim.params, value(name), `workflow ${JSON.stringify(name)}`);
      }
      const { lease } = await started(store, "a");
      const outcomes = await store.write(
        hostile.map((name) => sendEvent("a", name, name)),
        at(1),
      );
      equal(
        outcomes.map((outcome) => outcome.kind === "accepted" && !outcome.duplicate),
        hostile.map(() => true),
        "events accepted",
      );
      equal(
        (await undelivered(store, lease.runId)).map(({ id, type }) => [id, type]),
        hostile.map((name) => [name, name]),
        "events",
      );
      const waits = hostile.map((name, n) => ({ ...awaitingTopic(n + 1, name, never), key: name, name }));
      await committed(store, commit(lease, boundary(1, { steps: waits })), at(2));
      equal(await stepsOf(store, lease.runId), waits, "steps");
      for (const [n, topic] of hostile.entries()) {
        matches(
          await write(store, publish(`p${n}`, topic), at(3)),
          { waiters: 1 },
          `topic ${JSON.stringify(topic)}`,
        );
      }
    },
  },
  {
    name: "an event wakes only the wait for exactly its type",
    async run({ open }) {
      const store = await open();
      for (const [n, type] of hostile.entries()) {
        await suspended(store, `i${n}`, [awaiting(1, type, never)], never);
        for (const [m, other] of hostile.entries()) {
          if (other === type || m % 7 !== n % 7) continue;
          matches(
            await write(store, sendEvent(`i${n}`, `e ${n} ${m}`, other)),
            { woke: false },
            `${type} / ${other}`,
          );
        }
        matches(await write(store, sendEvent(`i${n}`, `e ${n}`, type)), { woke: true }, type);
      }
    },
  },
  {
    name: "values come back letter by letter, wherever they are kept (INV-45)",
    async run({ open }) {
      const store = await open();
      for (const [n, json] of texts.entries()) {
        for (const marks of [null, '{"v":1}', ""]) {
          const id = `${n} ${marks}`;
          const each = { json, marks };
          const { lease, params } = await started(store, id, { params: each });
          equal(params, each, "params of the claim");
          await write(store, sendEvent(id, `event ${id}`, "x", { payload: each }));
          const boundaryOfAll = boundary(1, {
            steps: [completed(1, { result: each })],
            logs: [logLine("x", { data: each })],
            next: { kind: "complete", output: each },
          });
          await committed(store, commit(lease, boundaryOfAll), at(1));
          matches(await instance(store, id), { params: each, output: each }, "the instance");
          matches((await stepsOf(store, lease.runId))[0], { result: each }, "the step");
          matches((await eventsOf(store, lease.runId))[0], { payload: each }, "the event");
          matches((await logsOf(store, lease.runId))[0], { data: each }, "the log line");
        }
      }
    },
  },
  {
    name: "a value of 1 MiB comes back whole",
    async run({ open }) {
      const store = await open();
      const big = { json: JSON.stringify("é😀x\n".repeat(116_508)), marks: null };
      const { lease } = await started(store, "a", { params: big });
      await write(store, sendEvent("a", "e1", "x", { payload: big }));
      const step = completed(1, { result: big });
      await committed(
        store,
        commit(lease, boundary(1, { steps: [step], next: { kind: "complete", output: big } })),
        at(1),
      );
      const record = await instance(store, "a");
      equal(record.params.json === big.json, true, "params");
      equal(record.output?.json === big.json, true, "output");
      equal((await eventsOf(store, lease.runId))[0]?.payload.json === big.json, true, "payload");
      equal(await stepsOf(store, lease.runId), [step], "step");
    },
  },
  {
    name: "an error keeps its name, message, code, stack, causes and properties; what it lacks stays absent",
    async run({ open }) {
      const store = await open();
      const error: StoredError = {
        name: "Über\u0000Error",
        message: "line 1\nline 2 \u0000 'quoted' \"twice\" 😀 \\",
        code: "E_CODE",
        stack: "Error: x\n    at y (z.ts:1:2)",
        properties: { json: '{"status":503}', marks: "{}" },
        cause: { name: "TypeError", message: "", cause: { name: "", message: "deepest", code: "" } },
      };
      const plain: StoredError = { name: "Error", message: "" };
      const { lease } = await started(store, "a");
      const steps = [
        errored(1, {
          error,
          errors: [
            { attempt: 1, at: at(1), error, retryAt: at(2), reopenedAt: at(1) },
            { attempt: 2, at: at(2), error: plain },
          ],
        }),
        errored(2, { error: plain, errors: [] }),
      ];
      const last = boundary(1, { steps, next: { kind: "error", error, deadLetter: false } });
      await committed(store, commit(lease, last), at(1));
      equal(await stepsOf(store, lease.runId), steps, "steps");
      equal((await instance(store, "a")).error, error, "error of the instance");
    },
  },
  {
    name: "every field of a step comes back as it was, whatever the step is",
    async run({ open }) {
      const store = await open();
      const { lease } = await started(store, "a");
      const steps = [
        completed(1, { key: "outer>inner#2", name: "inner", count: 2, parentKey: "outer#1", depth: 3 }),
        completed(2, {
          attempts: 7,
          starts: 9,
          maxAttempts: null,
          timeoutMs: 31_536_000_000,
          settledIndex: 40,
        }),
        completed(3, { type: "sleep", wakeAt: never, attempts: 0, starts: 0, timeoutMs: null }),
        errored(4, { type: "waitForEvent", eventType: "x", wakeAt: at(3), maxAttempts: 0, timeoutMs: 0 }),
        awaiting(5, "approved", never, { createdAt: 0 }),
        awaitingTopic(6, "news", 8_640_000_000_000_000),
        { ...awaiting(7, "x", at(1)), type: "do", waitsFor: "retry", errors: errored(7).errors } as const,
      ];
      await committed(store, commit(lease, boundary(1, { steps, next: suspendUntil(never) })), at(1));
      equal(await stepsOf(store, lease.runId), steps, "steps");
    },
  },
  {
    name: "times and numbers far beyond 32 bits come back exactly",
    async run({ open }) {
      const store = await open();
      const far = 8_640_000_000_000_000;
      await write(
        store,
        create("far", { createdAt: far, dueAt: far, deadlineAt: far, retentionMs: 9_007_199_254_740 }),
      );
      matches(
        await instance(store, "far"),
        { createdAt: far, dueAt: far, deadlineAt: far, retentionMs: 9_007_199_254_740 },
        "far",
      );
      await write(store, create("zero", { createdAt: 0, dueAt: 0, deadlineAt: 0, retentionMs: 0 }));
      matches(
        await instance(store, "zero"),
        { createdAt: 0, dueAt: 0, deadlineAt: 0, retentionMs: 0 },
        "zero",
      );
    },
  },
  {
    name: "log messages, reasons and bodies in flight come back letter by letter",
    async run({ open }) {
      const store = await open();
      const text = "tab\t nul\u0000 emoji 😀 quote ' \" backslash \\ percent %s";
      const { lease } = await started(store, "a");
      const body = begun(text);
      const logs = [logLine(text, { category: text, stepKey: text })];
      await committed(store, commit(lease, boundary(1, { logs, begun: [body] })), at(1));
      equal((await instance(store, "a")).begun, [body], "bodies in flight");
      matches(
        (await logsOf(store, lease.runId))[0],
        { message: text, category: text, stepKey: text },
        "the log line",
      );
      const reason = { source: "user", message: text, by: text } as const;
      await write(store, change("a", { kind: "terminate", reason }), at(2));
      equal((await instance(store, "a")).terminationReason, reason, "reason");
    },
  },
  {
    name: "an empty text, null and absence are three different things",
    async run({ open }) {
      const store = await open();
      const { lease } = await started(store, "a", { parent: ref("", "") });
      equal((await instance(store, "a")).parent, ref("", ""), "an empty parent");
      const logs = [logLine("", { stepKey: "", category: "", attempt: 0 }), logLine("x")];
      await committed(store, commit(lease, boundary(1, { logs })), at(1));
      equal(
        (await logsOf(store, lease.runId)).map(({ stepKey, attempt, category }) => [
          stepKey,
          attempt,
          category,
        ]),
        [
          ["", 0, ""],
          [null, null, "workflow"],
        ],
        "log lines",
      );
      await ended(store, "b", { kind: "terminate", reason: { source: "user", message: null } });
      equal(
        (await instance(store, "b")).terminationReason,
        { source: "user", message: null },
        "a reason without words",
      );
    },
  },
  {
    name: "what was given may be changed afterwards, and so may what was handed out: the store keeps its own (INV-16)",
    async run({ open }) {
      const store = await open();
      const step = completed(1);
      const request = create("a", {
        params: value("given"),
        parent: ref("given"),
        history: [step],
        lease: { owner: "runner", until: at(9) },
      });
      const outcome = await write(store, request);
      if (outcome.kind !== "created" || outcome.claim === null)
        throw new Error("should be created and leased");
      const { lease } = outcome.claim;
      const logs = [logLine("given")];
      await write(store, sendEvent("a", "e1", "x"), at(1));
      await committed(store, commit(lease, boundary(1, { logs, begun: [begun("given")] })), at(1));
      const before = structuredClone(await snapshot(store, "a"));
      for (const each of [request, step, outcome, logs, await snapshot(store, "a")]) spoil(each);
      equal(await snapshot(store, "a"), before, "everything the run shows");
    },
  },
];

/** Overwrites whatever lets itself be overwritten; frozen data rightly does not. */
function spoil(data: unknown): void {
  if (typeof data !== "object" || data === null) return;
  for (const [name, part] of Object.entries(data)) {
    spoil(part);
    Reflect.set(data, name, "spoilt");
  }
  if (Array.isArray(data)) Reflect.set(data, "length", 0);
}
