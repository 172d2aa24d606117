import { defineWorkflow, type WorkflowEvent, type WorkflowStep } from "everstep";
import type { Site } from "../../small-world/small-world.ts";
import type { Caller, SweepProgram } from "../sweep-case.ts";

export type { Caller, Site, SweepProgram };

type Run = (event: WorkflowEvent, step: WorkflowStep, site: Site) => Promise<unknown>;

type Others = Partial<Omit<SweepProgram, "name" | "workflows" | "calls">>;

/** Of one workflow; its caller creates the instance x, whose first run comes to this, and does what else there is to do. */
export function program(
  name: string,
  comesTo: string,
  run: Run,
  calls: (caller: Caller, x: Instance) => Promise<unknown> = async () => {},
  others: Others = {},
): SweepProgram {
  return {
    name,
    workflows: (site) => ({
      MAIN: defineWorkflow({ name: "main" }, (event, step) => run(event, step, site)),
    }),
    calls: async (caller) => calls(caller, await createX(caller)),
    ...others,
    comesTo: { "main/x/1": comesTo, ...others.comesTo },
  };
}

export type Instance = Awaited<ReturnType<typeof createX>>;

/** As a caller does that may have died in the middle of it. */
export function createX({ app }: Caller) {
  return app.workflows.MAIN!.create({ id: "x", ifExists: "return" });
}

export const once = { retries: false } as const;

/** A body that takes a while. */
export function does(site: Site, what: string, ms = 0): () => Promise<string> {
  return async () => {
    if (ms > 0) await site.pause(ms);
    return `did ${what}`;
  };
}
