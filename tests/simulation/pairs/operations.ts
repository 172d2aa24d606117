/** What is done to an instance, by a runner or by a caller, through what is shipped. */
import type { InstanceHandle } from "everstep";
import type { Member } from "../../../packages/everstep/src/testing/simulate/fleet.ts";
import type { Stage, State } from "./stage.ts";

/** Something under way. */
export interface Deed {
  /** What it came to, "done", or the code of the error; null while nobody was answered. */
  answer: string | null;
}

export interface Operation {
  readonly name: string;
  readonly by: "runner" | "caller";
  /** Where it does what it is for. */
  readonly home: State;
  /** It is one write: others come before it or behind it, and not in between. */
  readonly isAtomic: boolean;
  /** What its caller may be told instead. */
  readonly answers: readonly string[];
  /** Afterwards its first call is on the way. */
  begin(stage: Stage, member: Member): Promise<Deed>;
}

// ------------------------------------------------------------------------------------------------ runners

/** Its own call, which something makes it send; done when that was answered. */
async function sending(stage: Stage, member: Member, method: string, send: () => void): Promise<Deed> {
  stage.turnstile.set(member, "hold");
  const own = () =>
    stage.turnstile.seen.find((held) => held.member === member && held.call.method === method);
  send();
  await stage.come(() => own() !== undefined);
  return {
    get answer() {
      return own()?.isAnswered ? "done" : null;
    },
  };
}

/** Who ticks by hand is told, and ticks again. */
const unreachable = ["STORE_UNAVAILABLE"];

const runnerOperations: readonly Operation[] = [
  {
    name: "claim",
    by: "runner",
    home: "due",
    isAtomic: false,
    answers: unreachable,
    begin: async (stage, member) => {
      stage.turnstile.set(member, "hold");
      return answering(stage, member.app.tick(), unreachable);
    },
  },
  {
    name: "renew",
    by: "runner",
    home: "in its first body",
    isAtomic: true,
    answers: [],
    begin: (stage, member) => sending(stage, member, "renew", () => {}),
  },
  {
    name: "commit",
    by: "runner",
    home: "in its first body",
    isAtomic: true,
    answers: [],
    begin: (stage, member) => sending(stage, member, "write", () => stage.open("first", member)),
  },
  {
    name: "suspend",
    by: "runner",
    home: "in its second body",
    isAtomic: true,
    answers: [],
    begin: (stage, member) => sending(stage, member, "write", () => stage.open("second", member)),
  },
  {
    name: "record a row",
    by: "runner",
    home: "in its second body",
    isAtomic: false,
    answers: [],
    begin: (stage, member) => {
      stage.small.outside.set("rows", true);
      return sending(stage, member, "write", () => stage.open("second", member));
    },
  },
  {
    name: "take an event",
    by: "runner",
    home: "with an event",
    isAtomic: false,
    answers: [],
    begin: async (stage, member) => {
      const deed = await sending(stage, member, "claim", () => stage.tick(member));
      // Nobody else is there yet when it claims and reads.
      const isAtWrite = () => stage.turnstile.waiting.some(({ call }) => call.method === "write");
      while (!isAtWrite() && !stage.small.finding) {
        for (const held of stage.turnstile.waiting) await stage.turnstile.release(held);
        await stage.settle();
      }
      return deed;
    },
  },
  {
    name: "release",
    by: "runner",
    home: "in its first body",
    isAtomic: true,
    answers: [],
    begin: async (stage, member) => {
      stage.turnstile.set(member, "hold");
      const deed = answering(stage, member.app.stop({ grace: 0 }), []);
      await stage.come(() => stage.turnstile.waiting.some((held) => held.call.method === "release"));
      return deed;
    },
  },
];

// ------------------------------------------------------------------------------------------------ callers

type Steer = (instance: InstanceHandle, stage: Stage) => Promise<unknown>;

function steering(name: string, home: State, answers: readonly string[], steer: Steer): Operation {
  return calling(name, home, ["INSTANCE_NOT_FOUND", ...answers], async (stage, { app }) =>
    steer(await app.workflows.MAIN!.get("x"), stage),
  );
}

function calling(
  name: string,
  home: State,
  answers: readonly string[],
  call: (stage: Stage, member: Member) => Promise<unknown>,
): Operation {
  return {
    name,
    by: "caller",
    home,
    isAtomic: true,
    answers,
    begin: async (stage, member) => {
      stage.turnstile.set(member, "hold");
      return answering(stage, call(stage, member), answers);
    },
  };
}

const callerOperations: readonly Operation[] = [
  steering("send an event", "suspended", ["INSTANCE_TERMINAL"], (x, stage) =>
    x.sendEvent({ type: "word", payload: "sent", idempotencyKey: `word ${stage.next()}` }),
  ),
  calling("publish", "suspended", [], async (stage, { app }) => {
    const { waiters } = await app.publish("news", "published", { idempotencyKey: `news ${stage.next()}` });
    return `${waiters} waited`;
  }),
  steering("pause", "suspended", ["INSTANCE_TERMINAL"], (x) => x.pause()),
  steering("resume", "paused", [], (x) => x.resume()),
  steering("terminate", "suspended", ["INSTANCE_TERMINAL"], (x) => x.terminate()),
  steering("restart", "suspended", [], (x) => x.restart()),
  calling("create", "absent", ["INSTANCE_ID_ALREADY_EXISTS"], (_stage, { app, place }) =>
    app.workflows.MAIN!.create({ id: "x", params: `of ${place.name}` }),
  ),
  steering("fork", "suspended", ["INSTANCE_ID_ALREADY_EXISTS", "STEP_NOT_FOUND"], (x) =>
    x.fork({ newId: "y", from: { name: "second" } }),
  ),
  steering("retry the failed step", "errored", ["INSTANCE_NOT_ERRORED"], (x, stage) => {
    stage.small.retry("x");
    return x.retryFailedStep();
  }),
  steering("skip the sleep", "suspended", [], (x, stage) => {
    stage.small.explanations.add("sleep-skipped");
    return x.skipSleep();
  }),
];

export const operations: readonly Operation[] = [...runnerOperations, ...callerOperations];

/** INV-35, INV-49: whoever loses is told so in the words that were promised. */
function answering({ small }: Stage, work: Promise<unknown>, answers: readonly string[]): Deed {
  const deed: Deed = { answer: null };
  work.then(
    (value) => {
      deed.answer = typeof value === "string" ? value : "done";
    },
    (error: { code?: string }) => {
      deed.answer = error.code ?? "an error without a code";
      if (!answers.includes(deed.answer))
        small.broke({ invariant: "INV-49", message: `answered with ${deed.answer}: ${String(error)}` });
    },
  );
  return deed;
}
