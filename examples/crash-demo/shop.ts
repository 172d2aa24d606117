/** The world outside, as the demo pretends it: every call takes a while and leaves its effect in the ledger. */
import { setTimeout as delay } from "node:timers/promises";
import type { StepContext } from "everstep";
import { type LedgerLine, ledgerFile, write } from "./ledger.ts";

export const warehouse = {
  reserve: (ctx: StepContext, parcels: readonly string[]) =>
    act(ctx, 1, `reserved ${parcels.length} parcels`),
  pack: (ctx: StepContext, parcel: string) => act(ctx, 1, `packed ${parcel}`),
  close: (ctx: StepContext, orderId: string) => act(ctx, 0.8, `closed ${orderId}`),
};

export const bank = {
  charge: (ctx: StepContext, orderId: string) =>
    ctx.attempt === 1 ? refuse(ctx, 0.8, "bank timed out") : act(ctx, 1, `charged ${orderId}`),
};

export const carrier = {
  printLabel: (ctx: StepContext, parcel: string) => act(ctx, 1.2, `printed label ${parcel}`),
};

export const mail = {
  sendInvoice: (ctx: StepContext, payment: string) => act(ctx, 1, `sent invoice for "${payment}"`),
};

/** Milliseconds, shorter when the demo runs faster. */
export function seconds(count: number): number {
  return (count * 1000) / Number(process.env.EVERSTEP_DEMO_SPEED ?? 1);
}

async function act(ctx: StepContext, durationSeconds: number, effect: string): Promise<string> {
  note(ctx, "started");
  await delay(seconds(durationSeconds));
  note(ctx, "effect", effect);
  return effect;
}

async function refuse(ctx: StepContext, durationSeconds: number, reason: string): Promise<string> {
  note(ctx, "started");
  await delay(seconds(durationSeconds));
  note(ctx, "failed", reason);
  throw new Error(reason);
}

function note(ctx: StepContext, kind: LedgerLine["kind"], text = ""): void {
  write(ledgerFile(), { kind, step: ctx.step.name, pid: process.pid, at: Date.now(), text });
}
