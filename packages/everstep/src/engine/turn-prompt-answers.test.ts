import { describe, expect, test } from "vitest";
import { type Story, stagesOn } from "../../../../tests/support/turn-stage.ts";
import { createFakeRuntime } from "../testing/fake-runtime.ts";

const stageOf = stagesOn(createFakeRuntime);

const endless: readonly [string, Story][] = [
  [
    "a call that is refused",
    async (step) => {
      for (;;) await step.do("", async () => 1).catch(() => {});
    },
  ],
  [
    "log lines",
    async (step) => {
      for (;;) await step.log.info("still here");
    },
  ],
  [
    "refused calls inside of a step",
    (step) =>
      step.do("outer", async () => {
        for (;;) await step.do("", async () => false).catch(() => {});
      }),
  ],
  [
    "a name in flight",
    async (step) => {
      const nap = step.sleep("nap", "30 days");
      for (;;) await Promise.race([nap, step.sleep("nap", 1)]).catch(() => {});
    },
  ],
  [
    "log lines, beside a wait",
    (step) =>
      Promise.all([
        step.sleep("nap", "30 days"),
        (async () => {
          for (;;) await step.log.info("still here");
        })(),
      ]),
  ],
];

describe("author code that asks for ever for what is over at once", () => {
  test.each(endless)("lets the event loop have its turn, and its run fails: %s", async (_, story) => {
    const stage = stageOf(story);
    let [rounds, tasks] = [0, 0];
    /** Somebody else in this process, until the run has failed. */
    const count = (): void => {
      if (stage.notices.length === 0) tasks++;
      if (rounds++ < 300) stage.runtime.drained(count);
    };
    count();
    await stage.play();
    await stage.runtime.advance(1000);
    if (stage.ending?.kind === "suspended") await stage.resume();
    await stage.runtime.waitUntil(() => stage.wakes.length > 0 || stage.ending?.kind === "ended");
    if (stage.ending?.kind === "suspended") await stage.resume();
    expect(stage.last.next).toMatchObject({ kind: "error", error: { code: "WORKFLOW_STALLED" } });
    // A hundred answers, then everybody else.
    expect(tasks).toBeGreaterThan(90);
  });

  test("stops with its process", async () => {
    const stage = stageOf(async (step) => {
      await step.do("first", async () => 1);
      for (;;) await step.log.info("still here");
    });
    stage.hold();
    const playing = stage.play();
    stage.turn.windDown();
    stage.letGo();
    await playing;
    for (const commit of stage.held) await commit.answer();
    expect(stage.boundaries.map(({ next }) => next.kind)).not.toContain("error");
    expect(stage.ending).toMatchObject({ kind: "ended", next: { kind: "yield" } });
  });
});

describe("author code that asks in a loop and awaits nothing", () => {
  const loops: readonly [string, Story][] = [
    [
      "for steps",
      async (step) => {
        for (let n = 0; ; n++) step.do(`x${n}`, async () => 1);
      },
    ],
    [
      "for sleeps",
      async (step) => {
        for (let n = 0; ; n++) step.sleep(`x${n}`, 5);
      },
    ],
    [
      "for the same step",
      async (step) => {
        for (;;) void step.do("x", async () => 1);
      },
    ],
    [
      "for events",
      async (step) => {
        for (let n = 0; ; n++) void step.waitForEvent(`x${n}`, { type: "t" });
      },
    ],
    [
      "for log lines",
      async (step) => {
        for (;;) void step.log.info("x");
      },
    ],
    [
      "with mistakes",
      async (step) => {
        for (;;) void step.do("", async () => 1).catch(() => {});
      },
    ],
    [
      "inside of a step",
      (step) =>
        step.do("outer", async () => {
          for (let n = 0; ; n++) step.do(`x${n}`, async () => 1).catch(() => {});
        }),
    ],
    [
      "between microtasks",
      async (step) => {
        for (let n = 0; ; n++) {
          void step.sleep(`x${n}`, 5);
          await null;
        }
      },
    ],
    [
      "in spite of a catch around the loop",
      async (step) => {
        try {
          for (let n = 0; ; n++) void step.sleep(`x${n}`, 5);
        } catch {
          return "never mind";
        }
      },
    ],
  ];

  test.each(loops)("is thrown out of its loop, and only its run fails: %s", async (_, story) => {
    const stage = stageOf(story);
    await stage.play();
    expect(stage.ending).toMatchObject({
      kind: "ended",
      next: { kind: "error", error: { code: "WORKFLOW_STALLED" } },
    });
    const lines = stage.logs.map(({ message }) => message.length);
    expect(Math.max(0, ...lines)).toBeLessThan(10_000);
    expect(lines.length).toBeLessThanOrEqual(10_100);
  });

  test("may open thousands of steps at once, again and again", async () => {
    const stage = stageOf(async (step) => {
      for (let round = 0; round < 3; round++) {
        await Promise.all(Array.from({ length: 1500 }, (_, n) => step.sleep(`x${round} ${n}`, 0)));
      }
    });
    await stage.play();
    expect(stage.ending).toMatchObject({ kind: "ended", next: { kind: "complete" } });
  });
});

describe("a loop over steps of constant names", () => {
  const loops: readonly [string, string, Story][] = [
    [
      "steps",
      "STEP_LIMIT_EXCEEDED",
      async (step) => {
        for (;;) await step.do("ask", async () => false);
      },
    ],
    [
      "steps that fail",
      "STEP_LIMIT_EXCEEDED",
      async (step) => {
        const fail = () => Promise.reject(new Error("no"));
        for (let failed = 0; failed < 1024; failed++)
          await step.do("ask", { retries: false }, fail).catch(() => {});
        await step.do("ask", fail);
      },
    ],
    [
      "steps inside of a step",
      "STEP_LIMIT_EXCEEDED",
      (step) =>
        step.do("outer", { retries: false }, async () => {
          for (;;) await step.do("ask", async () => false);
        }),
    ],
    [
      "sleeps, which are not counted as steps",
      "HISTORY_LIMIT_EXCEEDED",
      async (step) => {
        for (;;) await step.sleep("wait", 0);
      },
    ],
  ];

  test.each(loops)("comes to an end at a limit: %s", async (_, code, story) => {
    const stage = stageOf(story, { limits: { maxHistoryBytes: 4_000_000 } });
    await stage.play();
    await stage.runtime.waitUntil(() => stage.ending?.kind === "ended");
    expect(stage.last.next).toMatchObject({ kind: "error", error: { code } });
  });
});

test("log lines that nobody awaits are written in the moment, however many", async () => {
  const stage = stageOf(async (step) => {
    for (let at = 0; at < 500; at++) void step.log.info(`line ${at}`);
  });
  await stage.play();
  expect(stage.logs).toHaveLength(500);
});
