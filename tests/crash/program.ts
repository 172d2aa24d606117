import { appendFileSync, readFileSync } from "node:fs";
import { defineWorkflow, type WorkflowDefinition } from "everstep";

/** One line per body: when it began, and when it was through. Outside the store, so no crash can take it back. */
export interface LedgerLine {
  readonly instanceId: string;
  readonly step: string;
  readonly what: "begin" | "end" | "fail";
  readonly pid: number;
  readonly at: number;
}

export function readLedger(file: string): LedgerLine[] {
  return readFileSync(file, "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as LedgerLine);
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/**
 * A bit of everything: steps one after the other, side by side and in a race, a step that fails at first, sleeps, events, a
 * nested step and a child. Every body leaves its mark in the ledger.
 */
export function programs(ledger: string): Record<"JOURNEY" | "ERRAND", WorkflowDefinition> {
  const body =
    (instanceId: string, step: string, ms: number, failFirst = false) =>
    async (context: { attempt: number }): Promise<string> => {
      const write = (what: LedgerLine["what"]): void =>
        appendFileSync(
          ledger,
          `${JSON.stringify({ instanceId, step, what, pid: process.pid, at: Date.now() })}\n`,
        );
      write("begin");
      await pause(ms);
      if (failFirst && context.attempt === 1) {
        write("fail");
        throw new Error("not the first time");
      }
      write("end");
      return `${step} of ${instanceId}`;
    };

  const errand = defineWorkflow({ name: "errand" }, async (event, step) => {
    const { parent } = event.payload;
    await step.do("run", body(event.instanceId, "run", 40));
    await step.do("report", async ({ sendEvent, attempt }) => {
      sendEvent(
        { workflow: "journey", id: parent },
        { type: "errand-done", payload: { from: event.instanceId } },
      );
      return body(event.instanceId, "report", 5)({ attempt });
    });
    return "done";
  });

  const journey = defineWorkflow({ name: "journey" }, async (event, step) => {
    const id = event.instanceId;
    const quick = { retries: { limit: 3, delay: 20, backoff: "constant" as const } };
    const first = await step.do("pack", body(id, "pack", 60));
    await step.do("call a cab", quick, body(id, "call a cab", 40, true));
    await step.sleep("wait for the cab", 40);
    const [left, right] = await Promise.all([
      step.do("left bag", body(id, "left bag", 80)),
      step.do("right bag", body(id, "right bag", 20)),
    ]);
    const winner = await Promise.race([
      step.do("train", body(id, "train", 90)).then(() => "train"),
      step.do("bus", body(id, "bus", 30)).then(() => "bus"),
    ]);
    await step.do("send an errand", async ({ startWorkflow, attempt }) => {
      startWorkflow("errand", { id: `${id}-errand`, params: { parent: id } });
      return body(id, "send an errand", 5)({ attempt });
    });
    const inner = await step.do("outer", async ({ attempt }) => {
      await body(id, "outer", 20)({ attempt });
      return step.do("inner", body(id, "inner", 40));
    });
    const ticket = await step.waitForEvent("ticket", { type: "ticket", timeout: "10 minutes" });
    const done = await step.waitForEvent("errand", { type: "errand-done", timeout: "10 minutes" });
    const last = await step.do("arrive", body(id, "arrive", 40));
    return {
      first,
      left,
      right,
      winner,
      inner,
      ticket: ticket.payload.number,
      errand: done.payload.from,
      last,
    };
  });
  return { JOURNEY: journey, ERRAND: errand };
}
