/** Steps: in a row, again and again, at the same time, within each other. */
import { NonRetryableError } from "everstep";
import { does, once, program } from "./program.ts";

const patient = { retries: { limit: 3, delay: 300, backoff: "constant" } } as const;

export const stepPrograms = [
  program(
    "a sequence of steps",
    'complete: "did a, did b, then c"',
    async (_event, step, site) => {
      const a = await step.do("a", does(site, "a"));
      const b = await step.do("b", does(site, "b", 50));
      const c = await step.do("c", async () => `${a}, ${b}`);
      return `${c}, then c`;
    },
    async (_caller, x) => {
      const { status } = await x.result();
      if (status !== "complete") throw new Error(`The result is ${status}.`);
    },
  ),

  program(
    "a step that succeeds at its third attempt",
    'complete: "did it in the end"',
    async (_event, step, site) => {
      await step.do("before", does(site, "before"));
      return step.do("flaky", patient, async ({ attempt }) => {
        if (attempt < 3) throw new Error("not yet");
        return "did it in the end";
      });
    },
    undefined,
    { starts: { "main/x/1/flaky": 3 } },
  ),

  program(
    "retries that are exhausted, and caught",
    'complete: "did after never"',
    async (_event, step, site) => {
      const config = { retries: { limit: 2, delay: 200, backoff: "constant" } } as const;
      const failure = await step
        .do("hopeless", config, () => {
          throw new Error("never");
        })
        .catch((error: Error) => error.message);
      return step.do("after", does(site, `after ${failure}`));
    },
    undefined,
    { starts: { "main/x/1/hopeless": 3 } },
  ),

  program(
    "a step that says that another attempt is pointless",
    "errored: no use",
    async (_event, step, site) => {
      await step.do("before", does(site, "before"));
      await step.do("pointless", patient, () => {
        throw new NonRetryableError("no use");
      });
    },
  ),

  program(
    "all of three steps",
    'complete: "did slow, did fast, did later than did late"',
    async (_event, step, site) => {
      const all = await Promise.all([
        step.do("slow", does(site, "slow", 400)),
        step.do("fast", does(site, "fast")),
        step
          .do("late", does(site, "late", 200))
          .then((late) => step.do("later", does(site, `later than ${late}`))),
      ]);
      return all.join(", ");
    },
  ),

  program(
    "a race between a step and a sleep",
    'complete: "did after did quick"',
    async (_event, step, site) => {
      const first = await Promise.race([
        step.do("quick", does(site, "quick", 200)),
        step.sleep("for long", "10 minutes").then(() => "slept"),
      ]);
      return step.do("after", does(site, `after ${first}`));
    },
  ),

  program(
    "all settled, one of them with a failure",
    'complete: "fulfilled, rejected, fulfilled"',
    async (_event, step, site) => {
      const settled = await Promise.allSettled([
        step.do("good", does(site, "good", 100)),
        step.do("bad", once, () => {
          throw new Error("bad luck");
        }),
        step.sleep("rest", 500),
      ]);
      return settled.map(({ status }) => status).join(", ");
    },
  ),

  program(
    "steps inside a step",
    'complete: "did after did first, did second"',
    async (_event, step, site) => {
      const outer = await step.do("outer", async () => {
        const first = await step.do("first", does(site, "first", 50));
        await step.sleep("breath", 200);
        const second = await step.do("second", does(site, "second"));
        return `${first}, ${second}`;
      });
      return step.do("after", does(site, `after ${outer}`));
    },
  ),

  program(
    "names that are used again",
    'complete: "did 1, did 2, DUPLICATE_STEP_KEY, did 4, did 5, did 6, did in 1, did in 2"',
    async (_event, step, site) => {
      const seen: string[] = [];
      for (const n of [1, 2]) {
        seen.push(await step.do("ask", does(site, `${n}`, 50)));
        await step.sleep("rest", 200);
      }
      const open = step.do("ask", does(site, "3", 100));
      seen.push(await step.do("ask", does(site, "never")).catch(({ code }: { code?: string }) => `${code}`));
      await open;
      seen.push(await step.do("ask", does(site, "4")));
      const numbered = [5, 6].map((n) => step.do("ask", { repeat: true }, does(site, `${n}`, 700 - n * 100)));
      seen.push(...(await Promise.all(numbered)));
      const inside = await step.do("outer", async () => [
        await step.do("ask", does(site, "in 1", 50)),
        await step.do("ask", does(site, "in 2", 50)),
      ]);
      return [...seen, ...inside].join(", ");
    },
  ),

  program(
    "a step that takes three leases",
    'complete: "did after did a long step"',
    async (_event, step, site) => {
      const long = await step.do("long", does(site, "a long step", 9500));
      return step.do("after", does(site, `after ${long}`));
    },
    undefined,
    { againMs: 9500 },
  ),

  program(
    "a step that must not be repeated",
    'complete: "did after did charge"',
    async (_event, step, site) => {
      const charge = await step
        .do("charge", { ifInterrupted: "fail" }, does(site, "charge", 300))
        .catch(({ code }: { code?: string }) => `was cut off: ${code}`);
      return step.do("after", does(site, `after ${charge}`));
    },
    undefined,
    {
      mayEnd: { "main/x/1": ['complete: "did after was cut off: STEP_INTERRUPTED"'] },
      onceAtMost: ["main/x/1/charge"],
    },
  ),

  program(
    "a runner that stops and waits for its body",
    'complete: "did b"',
    async (_event, step, site) => {
      await step.do("a", does(site, "a", 600));
      return step.do("b", does(site, "b", 900));
    },
    undefined,
    { stops: { afterMs: 1200, graceMs: 5000 } },
  ),

  program(
    "a runner that stops and cuts its body off",
    'complete: "did b"',
    async (_event, step, site) => {
      await step.do("a", does(site, "a", 600));
      return step.do("b", does(site, "b", 900));
    },
    undefined,
    { stops: { afterMs: 1200, graceMs: 0 } },
  ),

  program("log lines", "complete: nothing", async (_event, step, site) => {
    await step.log.info("begins");
    await step.do("a", async () => {
      await step.log.info("in the body");
      await site.pause(100);
    });
    await step.log.warn("between");
    await step.sleep("rest", 300);
    await step.do("b", does(site, "b"));
    await step.log.info("ends");
  }),

  program(
    "rows of the author's own",
    'complete: "did after"',
    async (_event, step, site) => {
      await step.do("write", async ({ mutate, idempotencyKey }) => {
        mutate((tx: unknown) => site.insertRow(tx, idempotencyKey));
      });
      await step
        .do("fail", once, async ({ onTerminalError, idempotencyKey, mutate }) => {
          mutate((tx: unknown) => site.insertRow(tx, `${idempotencyKey} never`));
          onTerminalError.mutate((tx: unknown) => site.insertRow(tx, `${idempotencyKey} failed`));
          throw new Error("failed for good");
        })
        .catch(() => {});
      return step.do("after", does(site, "after"));
    },
    undefined,
    { rows: ["main/x/1/fail failed", "main/x/1/write"] },
  ),
];
