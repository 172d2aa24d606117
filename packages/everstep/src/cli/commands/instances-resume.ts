import type { InstanceClient } from "../../fetch-client/index.ts";
import { defineCommand } from "../command.ts";
import { nameOf } from "../instance-of.ts";
import { CommandFailed } from "../problems.ts";
import { runVerb, verbArguments, verbOptions } from "../verbs/verb.ts";

export const instancesResume = defineCommand({
  path: ["instances", "resume"],
  group: "Instances",
  summary: "let a paused instance go on, or many of them",
  description: [
    "An instance that is active or waiting is left as it is; one that has ended is refused.",
    "With --all: every instance that is paused, or that the filters choose.",
  ],
  connects: true,
  arguments: verbArguments,
  options: verbOptions,
  examples: [
    { line: "instances resume order o-17", about: "go on" },
    { line: "instances resume --all --workflow order", about: "every paused order" },
  ],
  run: (context) =>
    runVerb(context, {
      infinitive: "resume",
      participle: "resumed",
      statuses: ["paused"],
      async act(instance) {
        const status = await statusIfKnown(instance);
        if (hasEnded.has(status)) throw ended(instance, status);
        await instance.resume();
        return status;
      },
      said: (instance, status) =>
        status === "paused" || status === ""
          ? `Resumed ${nameOf(instance)}.`
          : `${nameOf(instance)} was not paused: it is ${status}.`,
    }),
});

const hasEnded: ReadonlySet<string> = new Set(["complete", "errored", "terminated"]);

/** Who may steer need not be allowed to look. */
async function statusIfKnown(instance: InstanceClient): Promise<string> {
  try {
    return (await instance.status()).status;
  } catch (error) {
    if ((error as { readonly code?: unknown }).code === "FORBIDDEN") return "";
    throw error;
  }
}

function ended(instance: Parameters<typeof nameOf>[0], status: string): CommandFailed {
  return Object.assign(
    new CommandFailed(
      `${nameOf(instance)} has ended (${status}), so it cannot go on.`,
      `Run it again: everstep instances restart ${nameOf(instance)}`,
    ),
    { code: "INSTANCE_TERMINAL" },
  );
}
