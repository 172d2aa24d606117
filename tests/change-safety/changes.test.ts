/** One workflow, changed in every way: what the check says, and what becomes of the instance when it is deployed. */
import { expect, test } from "vitest";
import { onEachStore } from "../scenarios/each-store.ts";
import { type Code, Site } from "./deploy.ts";

interface Change {
  readonly what: string;
  readonly before: Code;
  readonly after: Code;
  readonly says: string;
  /** What the finding names. */
  readonly finding?: object;
  /** How the instance ends once the changed code is deployed and everything that wakes it has happened. */
  readonly ends: object;
  /** Bodies that run then. */
  readonly runs?: readonly string[];
}

let ran: string[] = [];

function body(name: string): () => Promise<string> {
  return async () => {
    ran.push(name);
    return name;
  };
}

const never = new Promise<never>(() => {});

const sleeping: Code = async (step) => {
  const price = await step.do("price", body("price"));
  const stock = await step.do("stock", body("stock"));
  await step.sleep("cool-off", "1 hour");
  return [price, stock];
};

const looping =
  (rounds: number): Code =>
  async (step) => {
    for (let round = 0; round < rounds; round++) await step.do(`round ${round}`, body(`round ${round}`));
    await step.sleep("cool-off", "1 hour");
  };

const racing: Code = async (step) =>
  Promise.race([
    step.waitForEvent("paid", { type: "paid", timeout: "90 minutes" }).then(() => "paid"),
    step.sleep("cool-off", "1 hour").then(() => "slept"),
  ]);

const waiting =
  (type: string): Code =>
  async (step) => {
    const { payload } = await step.waitForEvent("paid", { type, timeout: "5 hours" });
    return payload;
  };

const complete = (output: unknown) => ({ status: "complete", output });

const changes: readonly Change[] = [
  {
    what: "nothing",
    before: sleeping,
    after: sleeping,
    says: "identical",
    ends: complete(["price", "stock"]),
  },
  {
    what: "another body",
    before: sleeping,
    after: async (step) => {
      const price = await step.do("price", body("dearer"));
      const stock = await step.do("stock", body("fuller"));
      await step.sleep("cool-off", "5 minutes");
      return [price, stock];
    },
    says: "identical",
    ends: complete(["price", "stock"]),
  },
  {
    what: "a step renamed",
    before: sleeping,
    after: async (step) => {
      const price = await step.do("price", body("price"));
      const stock = await step.do("inventory", body("inventory"));
      await step.sleep("cool-off", "1 hour");
      return [price, stock];
    },
    says: "orphaned",
    finding: { newSteps: ["inventory"], unusedSteps: ["stock", "cool-off"] },
    ends: complete(["price", "inventory"]),
    runs: ["inventory"],
  },
  {
    what: "a step removed",
    before: sleeping,
    after: async (step) => {
      const price = await step.do("price", body("price"));
      await step.sleep("cool-off", "1 hour");
      return [price];
    },
    says: "orphaned",
    finding: { newSteps: [], unusedSteps: ["stock"] },
    ends: complete(["price"]),
  },
  {
    what: "a step added at the end, behind the wait",
    before: sleeping,
    after: async (step) => {
      await sleeping(step, undefined as never);
      return step.do("ship", body("ship"));
    },
    says: "identical",
    ends: complete("ship"),
    runs: ["ship"],
  },
  {
    what: "a step added beside the wait",
    before: sleeping,
    after: async (step) => {
      await step.do("price", body("price"));
      await step.do("stock", body("stock"));
      await Promise.all([step.sleep("cool-off", "1 hour"), step.do("tell", body("tell"))]);
    },
    says: "continues",
    finding: { newSteps: ["tell"], unusedSteps: [] },
    ends: complete(undefined),
    runs: ["tell"],
  },
  {
    what: "a step added in the middle",
    before: sleeping,
    after: async (step) => {
      const price = await step.do("price", body("price"));
      await step.do("tax", body("tax"));
      const stock = await step.do("stock", body("stock"));
      await step.sleep("cool-off", "1 hour");
      return [price, stock];
    },
    says: "orphaned",
    finding: { newSteps: ["tax"], unusedSteps: ["stock", "cool-off"] },
    ends: complete(["price", "stock"]),
    runs: ["tax"],
  },
  {
    what: "two steps swapped",
    before: sleeping,
    after: async (step) => {
      const stock = await step.do("stock", body("stock"));
      const price = await step.do("price", body("price"));
      await step.sleep("cool-off", "1 hour");
      return [price, stock];
    },
    says: "reordered",
    finding: { movedSteps: ["price"] },
    ends: complete(["price", "stock"]),
  },
  {
    what: "do becomes sleep",
    before: sleeping,
    after: async (step) => {
      await step.do("price", body("price"));
      await step.sleep("stock", "1 hour");
    },
    says: "mismatch",
    finding: { mismatch: { stepKey: "stock", recorded: "do", asked: "sleep" } },
    ends: { status: "errored", error: { code: "STEP_TYPE_MISMATCH" } },
  },
  {
    what: "the open sleep becomes a wait",
    before: sleeping,
    after: async (step) => {
      await step.do("price", body("price"));
      await step.do("stock", body("stock"));
      await step.waitForEvent("cool-off", { type: "paid" });
    },
    says: "mismatch",
    finding: { mismatch: { stepKey: "cool-off", recorded: "sleep", asked: "waitForEvent" } },
    ends: { status: "errored", error: { code: "STEP_TYPE_MISMATCH" } },
  },
  {
    what: "do becomes sleep beside a new step",
    before: sleeping,
    after: async (step) => {
      await Promise.all([step.do("new", body("new")), step.sleep("price", "1 hour")]);
    },
    says: "mismatch",
    finding: { mismatch: { stepKey: "price", recorded: "do", asked: "sleep" } },
    ends: { status: "errored", error: { code: "STEP_TYPE_MISMATCH" } },
    runs: ["new"],
  },
  {
    what: "another event type",
    before: waiting("ordered"),
    after: waiting("paid"),
    says: "mismatch",
    finding: {
      mismatch: {
        stepKey: "paid",
        recorded: 'waitForEvent of type "ordered"',
        asked: 'waitForEvent of type "paid"',
      },
    },
    // The event is there, and has not woken it.
    ends: { status: "waiting" },
  },
  {
    what: "fewer rounds of a loop",
    before: looping(3),
    after: looping(2),
    says: "orphaned",
    finding: { newSteps: [], unusedSteps: ["round 2"] },
    ends: complete(undefined),
  },
  {
    what: "more rounds of a loop",
    before: looping(3),
    after: looping(4),
    says: "orphaned",
    finding: { newSteps: ["round 3"], unusedSteps: ["cool-off"] },
    ends: complete(undefined),
    runs: ["round 3"],
  },
  {
    what: "a race that becomes all",
    before: racing,
    after: async (step) =>
      Promise.all([
        step.waitForEvent("paid", { type: "paid", timeout: "90 minutes" }).catch(() => "late"),
        step.sleep("cool-off", "1 hour"),
      ]),
    says: "identical",
    ends: complete(["late", undefined]),
  },
  {
    what: "a race without one of its branches",
    before: racing,
    after: async (step) => step.sleep("cool-off", "1 hour"),
    says: "orphaned",
    finding: { unusedSteps: ["paid"] },
    ends: complete(undefined),
  },
  {
    what: "an error before the first step",
    before: sleeping,
    after: async () => {
      throw new TypeError("no configuration");
    },
    says: "ends",
    finding: { error: { name: "TypeError", message: "no configuration" } },
    ends: { status: "errored", error: { name: "TypeError" } },
  },
  {
    what: "an error after a step, because of what it returned",
    before: sleeping,
    after: async (step) => {
      const price = await step.do("price", async () => ({ amount: 12 }));
      return price.amount.toFixed();
    },
    says: "ends",
    finding: { error: { name: "TypeError" } },
    ends: { status: "errored", error: { name: "TypeError" } },
  },
  {
    what: "an early return",
    before: sleeping,
    after: async (step) => step.do("price", body("price")),
    says: "ends",
    finding: { unusedSteps: ["stock", "cool-off"] },
    ends: complete("price"),
  },
  {
    what: "a promise that never settles",
    before: sleeping,
    after: async (step) => {
      await step.do("price", body("price"));
      await never;
    },
    says: "stuck",
    ends: { status: "errored", error: { code: "WORKFLOW_STALLED" } },
  },
];

onEachStore("changed code", (tell) => {
  test.each(changes)("$what: $says", async ({ before, after, says, finding = {}, ends, runs = [] }) => {
    const site = new Site(tell, before);
    await site.begin("i");
    ran = [];
    const report = await site.check(after);
    expect(report.counts).toMatchObject({ [says]: 1 });
    expect(report).toMatchObject({
      checked: 1,
      complete: true,
      ok: ["identical", "continues"].includes(says),
    });
    expect(report.findings).toMatchObject(
      says === "identical" ? [] : [{ workflowName: "w", instanceId: "i", classification: says, ...finding }],
    );
    expect(ran, "no body runs in a check").toEqual([]);
    await site.deploy(after);
    await site.wakeAll("i");
    expect(await site.story.status("i")).toMatchObject(ends);
    expect(ran).toEqual(runs);
  });

  test("a workflow that is gone: unknown, and its instances wait", async () => {
    const site = new Site(tell, sleeping);
    await site.begin("i");
    const report = await site.story.app.check({ workflows: {} });
    expect(report).toMatchObject({ counts: { unknown: 1 }, ok: false });
    expect(report.findings).toMatchObject([{ workflowName: "w", classification: "unknown" }]);
  });
});
