/** Instances that have ended, for verbs that mean nothing to them. */
import type { InstanceClient } from "../../fetch-client/index.ts";
import { type InstanceStatus, isTerminal } from "../../model/instance.ts";
import { nameOf } from "../instance-of.ts";
import { CommandFailed } from "../problems.ts";

export function hasEnded(status: string): boolean {
  return isTerminal(status as InstanceStatus);
}

/** Who may steer need not be allowed to look: "" then. */
export async function statusIfKnown(instance: InstanceClient): Promise<string> {
  try {
    return (await instance.status()).status;
  } catch (error) {
    if ((error as { readonly code?: unknown }).code === "FORBIDDEN") return "";
    throw error;
  }
}

/** `so` is what that means for the verb. */
export function ended(instance: Parameters<typeof nameOf>[0], status: string, so: string): CommandFailed {
  return Object.assign(
    new CommandFailed(
      `${nameOf(instance)} has ended (${status}), so ${so}.`,
      `Run it again: everstep instances restart ${nameOf(instance)}`,
    ),
    { code: "INSTANCE_TERMINAL" },
  );
}
