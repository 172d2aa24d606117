/** What can be done to many instances at once. */
import type { Client, InstanceStatus, WireRef } from "everstep/client";
import { isEnded } from "../words/statuses.ts";

export interface BulkItem extends WireRef {
  readonly status: InstanceStatus;
}

export interface BulkAction {
  readonly name: "pause" | "resume" | "terminate" | "delete" | "restart" | "retryFailedStep";
  readonly words: string;
  /** "12 instances were paused." */
  readonly done: string;
  /** Asked before it begins, where it is much at once or cannot be undone. */
  readonly question?: (count: string) => string;
  /** Whom it is for, as far as their status is known here: the others would refuse it, or not notice it. */
  isFor(instance: BulkItem): boolean;
  act(client: Client, instance: WireRef): Promise<void>;
}

export const bulkActions: readonly BulkAction[] = [
  {
    name: "pause",
    words: "Pause",
    done: "paused",
    question: (count) => `Pause ${count}?`,
    isFor: ({ status }) => status === "active" || status === "waiting",
    act: (client, instance) => handle(client, instance).pause(),
  },
  {
    name: "resume",
    words: "Resume",
    done: "resumed",
    isFor: ({ status }) => status === "paused",
    act: (client, instance) => handle(client, instance).resume(),
  },
  {
    name: "retryFailedStep",
    words: "Retry failed step",
    done: "given another attempt",
    isFor: ({ status }) => status === "errored",
    act: (client, instance) => handle(client, instance).retryFailedStep(),
  },
  {
    name: "restart",
    words: "Restart",
    done: "restarted",
    question: (count) => `Restart ${count} from the beginning?`,
    isFor: () => true,
    act: (client, instance) => handle(client, instance).restart(),
  },
  {
    name: "terminate",
    words: "Terminate",
    done: "terminated",
    question: (count) => `Terminate ${count} for good?`,
    isFor: ({ status }) => !isEnded(status),
    act: (client, instance) => handle(client, instance).terminate(),
  },
  {
    name: "delete",
    words: "Delete",
    done: "deleted",
    question: (count) => `Delete ${count} with everything recorded of them, for good?`,
    isFor: ({ status }) => isEnded(status),
    act: (client, instance) => handle(client, instance).delete(),
  },
];

function handle(client: Client, { workflowName, instanceId }: WireRef) {
  return client.workflow(workflowName).get(instanceId);
}
