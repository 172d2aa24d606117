/** Workflows that bring a dashboard everything it can show. What they do, and how fast, is in their params. */
import { type Duration, defineWorkflow, NonRetryableError, type StandardSchema } from "everstep";
import type { Gates } from "./gates.ts";
import { hostileTexts } from "./hostile-texts.ts";

interface Order {
  readonly item: string;
  readonly amount: number;
  /** How often the bank fails before it answers. */
  readonly failures?: number;
  readonly retryDelay?: Duration;
  readonly coolOff?: Duration;
}

/** Retries, a sleep, and a person whose approval it waits for: the event "approved". */
const order = defineWorkflow<Order>({ name: "order" }, async ({ payload }, step) => {
  const { item, amount, failures = 0, retryDelay = "10 milliseconds", coolOff = "10 milliseconds" } = payload;
  await step.do("reserve", () => ({ item, shelf: "A7" }));
  const retries = { limit: 5, delay: retryDelay, backoff: "constant" } as const;
  const charge = await step.do("charge", { retries }, ({ attempt }) => {
    if (attempt <= failures) throw new Error(`The bank did not answer (attempt ${attempt}).`);
    return { chargeId: `ch_${amount}` };
  });
  await step.sleep("cool off", coolOff);
  const approval = await step.waitForEvent<{ readonly by?: string } | null>("approval", {
    type: "approved",
    timeout: "1 hour",
  });
  await step.do("ship", () => ({ parcel: `parcel of ${item}` }));
  return { ...charge, approvedBy: approval.payload?.by ?? "somebody" };
});

interface Child {
  readonly parent: string;
  /** Waits for the event "go" first. */
  readonly holds?: boolean;
}

const child = defineWorkflow<Child>({ name: "child" }, async ({ payload, instanceId }, step) => {
  if (payload.holds) await step.waitForEvent("go", { type: "go", timeout: "1 hour" });
  await step.do("report", (ctx) => {
    const to = { workflow: "parent", id: payload.parent };
    ctx.sendEvent(to, { type: "child-done", payload: { child: instanceId } });
  });
  return { reportedTo: payload.parent };
});

/** Starts children and waits until each has reported. */
const parent = defineWorkflow<{ readonly children: number; readonly holds?: boolean }>(
  { name: "parent" },
  async ({ payload, instanceId }, step) => {
    const ids = await step.do("start children", (ctx) =>
      Array.from({ length: payload.children }, (_, n) => {
        const params = { parent: instanceId, holds: payload.holds ?? false };
        return ctx.startWorkflow(child, { id: `${instanceId}-child-${n + 1}`, params });
      }),
    );
    for (const id of ids)
      await step.waitForEvent(`report of ${id}`, { type: "child-done", timeout: "1 hour" });
    return { children: ids };
  },
);

/** Waits for a publication. */
const listener = defineWorkflow<{ readonly topic: string }>(
  { name: "listener" },
  async ({ payload }, step) => {
    const news = await step.waitForEvent("news", { topic: payload.topic, timeout: "1 hour" });
    return { heard: news.payload };
  },
);

/** Branches side by side, one of them with steps inside, another that fails and is caught. */
const fanOut = defineWorkflow<{ readonly branches: number }>(
  { name: "fan-out" },
  async ({ payload }, step) => {
    const branches = Array.from({ length: payload.branches }, (_, n) =>
      step.do(`branch ${n + 1}`, { retries: { limit: 1, delay: "10 milliseconds" } }, ({ attempt }) => {
        if (n % 3 === 2 && attempt === 1) throw new Error("Busy, try again.");
        return { branch: n + 1 };
      }),
    );
    const nested = step.do("outer", async () => {
      const first = await step.do("inner one", () => 1);
      return first + (await step.do("inner two", () => 2));
    });
    const caught = step.do("may fail", { retries: false }, () => {
      throw new Error("This one is allowed to fail.");
    });
    const [sum, count] = await Promise.all([nested, Promise.all(branches), caught.catch(() => null)]);
    return { sum, branches: count.length };
  },
);

/** Fails until its retries are used up: a dead letter. */
const failing = defineWorkflow<{
  readonly retries?: number;
  readonly delay?: Duration;
  readonly message?: string;
}>({ name: "failing" }, async ({ payload }, step) => {
  await step.do("prepare", () => ({ ready: true }));
  const delay = payload.delay ?? "10 milliseconds";
  const retries = { limit: payload.retries ?? 2, delay, backoff: "constant" } as const;
  return step.do("call", { retries }, ({ attempt }) => {
    const cause = new TypeError("fetch failed: ECONNREFUSED");
    throw new Error(payload.message ?? `The service is out of reach (attempt ${attempt}).`, { cause });
  });
});

/** Fails by its own decision, outside of any step. */
const doomed = defineWorkflow({ name: "doomed" }, async (_event, step) => {
  await step.do("look", () => ({ stock: 0 }));
  throw new NonRetryableError("There is nothing left to sell.");
});

/** A body that goes on until the test opens its gate: an instance that is active for as long as one likes. */
const held = (gates: Gates) =>
  defineWorkflow<{ readonly rest?: Duration }>({ name: "held" }, async ({ instanceId, payload }, step) => {
    await step.do("before", () => "done");
    await step.do("hold", ({ signal }) => gates.passed(instanceId, signal));
    if (payload.rest) await step.sleep("rest", payload.rest);
    return "let go";
  });

const sleeper = defineWorkflow<{ readonly for: Duration }>({ name: "sleeper" }, async ({ payload }, step) => {
  await step.sleep("nap", payload.for);
  return "rested";
});

/** Lines of every level, in categories, with data. */
const chatty = defineWorkflow<{ readonly lines: number }>({ name: "chatty" }, async ({ payload }, step) => {
  const levels = ["debug", "info", "warn", "error"] as const;
  for (let n = 0; n < payload.lines; n++) {
    const level = levels[n % levels.length] ?? "info";
    await step.log[level](`line ${n + 1}`, { n, level }, { category: n % 3 === 0 ? "payments" : "people" });
  }
  await step.do("work", () => step.log.info("from inside of a step"));
});

/** Writes as many lines as every event "say" asks for. */
const talker = defineWorkflow({ name: "talker" }, async (_event, step) => {
  let line = 0;
  for (let turn = 1; ; turn++) {
    const wanted = { type: "say", timeout: "1 hour" } as const;
    const { payload } = await step.waitForEvent<{ readonly lines: number }>(`say ${turn}`, wanted);
    for (let left = payload.lines; left > 0; left--) await step.log.info(`line ${++line}`);
  }
});

const long = defineWorkflow<{ readonly steps: number }>({ name: "long" }, async ({ payload }, step) => {
  for (let n = 1; n <= payload.steps; n++) await step.do(`step ${n}`, () => ({ n }));
  return { steps: payload.steps };
});

const quick = defineWorkflow({ name: "quick" }, async ({ payload }) => payload);

/** Every hostile text in every place that takes texts. With `fails` it also ends with one. */
const hostile = defineWorkflow<{ readonly fails?: boolean; readonly note?: unknown }>(
  { name: "hostile" },
  async ({ payload }, step) => {
    for (const [n, text] of hostileTexts.entries()) {
      await step.do(nameOf(text, n), () => ({ [text]: text, html: text, list: [text] }));
      await step.log.warn(text, { [text]: text }, { category: nameOf(text, n).slice(0, 64) });
    }
    const all = hostileTexts.join("\n");
    const broken = step.do("broken", { retries: { limit: 1, delay: "10 milliseconds" } }, () => {
      throw Object.assign(new Error(all), { name: hostileTexts[0] });
    });
    await broken.catch(() => null);
    if (payload.fails) throw Object.assign(new NonRetryableError(all), { name: hostileTexts[1] });
    const event = await step.waitForEvent("word", { type: "word", timeout: "1 hour" });
    return { texts: hostileTexts, heard: event.payload };
  },
);

/** As a step name: no control characters, and not too long. */
function nameOf(text: string, n: number): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: names have none
  return `${n} ${text.replace(/[\u0000-\u001f]/g, " ")}`.slice(0, 256);
}

export interface Signup {
  readonly email: string;
  readonly plan: "free" | "team" | "company";
  readonly seats?: number;
  readonly isNewsWanted?: boolean;
  readonly tags?: readonly string[];
  readonly address?: { readonly street: string; readonly city: string };
}

const signupSchema: StandardSchema<Signup> & { readonly "~standard": { readonly jsonSchema: object } } = {
  "~standard": {
    version: 1,
    vendor: "tests",
    validate(value) {
      const { email, plan, seats = 1 } = (value ?? {}) as Partial<Signup>;
      const issues = [];
      if (!/^\S+@\S+$/.test(String(email))) issues.push({ message: "must be an address", path: ["email"] });
      if (!["free", "team", "company"].includes(String(plan)))
        issues.push({ message: "must be free, team or company", path: ["plan"] });
      if (!Number.isInteger(seats) || seats < 1)
        issues.push({ message: "must be a whole number above 0", path: ["seats"] });
      return issues.length > 0 ? { issues } : { value: value as Signup };
    },
    jsonSchema: {
      input: () => ({
        type: "object",
        title: "Signup",
        required: ["email", "plan"],
        properties: {
          email: { type: "string", format: "email", description: "Where the welcome goes" },
          plan: { type: "string", enum: ["free", "team", "company"] },
          seats: { type: "integer", minimum: 1, maximum: 500, default: 1 },
          isNewsWanted: { type: "boolean", default: false },
          tags: { type: "array", items: { type: "string" } },
          address: {
            type: "object",
            required: ["street", "city"],
            properties: { street: { type: "string" }, city: { type: "string" } },
          },
        },
      }),
    },
  },
};

/** Its params have a schema that forms can be made from. */
const signup = defineWorkflow({ name: "signup", params: signupSchema }, async ({ payload }, step) => {
  await step.do("welcome", () => ({ sentTo: payload.email }));
  return { plan: payload.plan };
});

export const sampleWorkflows = (gates: Gates) => ({
  order,
  parent,
  child,
  listener,
  fanOut,
  failing,
  doomed,
  held: held(gates),
  sleeper,
  chatty,
  talker,
  long,
  quick,
  hostile,
  signup,
});

export type SampleWorkflows = ReturnType<typeof sampleWorkflows>;
