/** The instance that a command is about. */
import type { Client, InstanceClient } from "../fetch-client/index.ts";
import { CommandFailed, UsageError } from "./problems.ts";

interface Named {
  readonly values: { readonly workflow: string | undefined; readonly id: string };
  connect(): Promise<Client>;
}

export async function instanceOf(context: Named): Promise<InstanceClient> {
  const { workflow, id } = context.values;
  const client = await context.connect();
  return workflow === undefined ? findInstance(client, id) : client.workflow(workflow).get(id);
}

/** How it is named where it can be copied into the next command. */
export function nameOf(instance: { readonly workflowName: string; readonly id: string }): string {
  return `${instance.workflowName} ${instance.id}`;
}

/** Ids are unique within their workflow; an id alone is enough where only one workflow has it. */
async function findInstance(client: Client, id: string): Promise<InstanceClient> {
  const candidates = (await client.workflows()).map(({ name }) => client.workflow(name).get(id));
  const found: InstanceClient[] = [];
  for (let at = 0; at < candidates.length; at += atOnce) {
    const some = candidates.slice(at, at + atOnce);
    const exist = await Promise.all(some.map(exists));
    found.push(...some.filter((_, index) => exist[index]));
  }
  const [only, ...others] = found;
  if (only === undefined)
    throw new CommandFailed(
      `No workflow has an instance "${id}".`,
      'Check the id with "everstep instances list".',
    );
  if (others.length === 0) return only;
  const names = found.map(({ workflowName }) => workflowName).join(", ");
  throw new UsageError(
    `Several workflows have an instance "${id}": ${names}.`,
    "Say which one with --workflow.",
  );
}

const atOnce = 8;

async function exists(instance: InstanceClient): Promise<boolean> {
  try {
    await instance.status();
    return true;
  } catch (error) {
    if ((error as { readonly code?: unknown }).code === "INSTANCE_NOT_FOUND") return false;
    throw error;
  }
}
