/** What runner processes can be told to run. */
import { existsSync } from "node:fs";
import { defineWorkflow, type WorkflowDefinition } from "everstep";
import { runMarked } from "./body.ts";
import { chaosWorkflows } from "./journey.ts";
import type { Ledger } from "./ledger.ts";
import { lookFor } from "./time.ts";

export type ProgramName = "chaos" | "patient" | "old release" | "new release";

export function programOf(name: ProgramName, ledger: Ledger): Record<string, WorkflowDefinition> {
  switch (name) {
    case "chaos":
      return chaosWorkflows(ledger);
    case "patient":
      return patientWorkflows(ledger);
    case "old release":
      return { ORDER: releases(ledger).ORDER };
    case "new release":
      return releases(ledger);
  }
}

export interface PatientParams {
  /** How long the first start of its body takes; later ones take no time. */
  readonly firstStartMs: number;
  /** The first start waits until there is a file with this name. */
  readonly untilFile?: string;
}

/** Waits in a body. */
export function patientWorkflows(ledger: Ledger): Record<"PATIENT", WorkflowDefinition> {
  const patient = defineWorkflow<PatientParams>({ name: "patient" }, async (event, step) => {
    const { firstStartMs, untilFile } = event.payload;
    await step.do("arrive", (context) => runMarked(context, ledger, { seen: [], ms: 1 }));
    return step.do("wait", async (context) => {
      const ms = context.attempt === 1 ? firstStartMs : 1;
      await runMarked(context, ledger, { seen: [], ms });
      if (context.attempt === 1 && untilFile !== undefined) {
        await lookFor(() => existsSync(untilFile) || undefined, { withinMs: 60_000 });
      }
      return process.pid;
    });
  });
  return { PATIENT: patient };
}

/** Both tell in which process they ran. */
export function releases(ledger: Ledger): Record<"ORDER" | "REFUND", WorkflowDefinition> {
  const define = (name: string): WorkflowDefinition =>
    defineWorkflow({ name }, async (_event, step) => {
      const first = await step.do("first", async (context) => {
        await runMarked(context, ledger, { seen: [], ms: 5 });
        return process.pid;
      });
      await step.sleep("a moment", 20);
      const second = await step.do("second", async (context) => {
        await runMarked(context, ledger, { seen: [], ms: 5 });
        return process.pid;
      });
      return [first, second];
    });
  return { ORDER: define("order"), REFUND: define("refund") };
}
