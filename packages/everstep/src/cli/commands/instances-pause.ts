import { liveStatuses } from "../../model/instance.ts";
import { defineCommand } from "../command.ts";
import { nameOf } from "../instance-of.ts";
import { statusIfKnown } from "../verbs/ended.ts";
import { runVerb, verbArguments, verbOptions } from "../verbs/verb.ts";

export const instancesPause = defineCommand({
  path: ["instances", "pause"],
  group: "Instances",
  summary: "stop an instance after the step it is in, or many of them",
  description: [
    'Timers keep counting and events are kept meanwhile. A paused instance goes on with "everstep instances resume".',
    "With --all: every instance that is active or waiting, or that the filters choose. It asks first.",
  ],
  connects: true,
  arguments: verbArguments,
  options: verbOptions,
  examples: [
    { line: "instances pause order o-17", about: "hold it while you look" },
    { line: "instances pause --all --workflow order --dry-run", about: "which orders would it stop?" },
  ],
  run: (context) =>
    runVerb(context, {
      infinitive: "pause",
      participle: "paused",
      statuses: liveStatuses.filter((status) => status !== "paused"),
      asks: "for many",
      async act(instance) {
        const status = await statusIfKnown(instance);
        await instance.pause();
        return status;
      },
      said: (instance, status) =>
        status === "paused" ? `${nameOf(instance)} was paused already.` : `Paused ${nameOf(instance)}.`,
    }),
});
