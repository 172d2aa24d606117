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
  if (found.length === 0) found.push(...(await amongOthers(client, id)));
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

/** Instances of workflows that are no longer in the code are found in the list of all. */
async function amongOthers(client: Client, id: string): Promise<readonly InstanceClient[]> {
  const found: InstanceClient[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < pagesMax; page++) {
    const { instances, ...end } = await client.instances({ idPrefix: id, pageSize: 100, cursor });
    const same = instances.filter((each) => each.id === id);
    found.push(...same.map(({ meta }) => client.workflow(meta.workflowName).get(id)));
    if (!end.hasNextPage) break;
    cursor = end.cursor;
  }
  return found;
}

/** Each goes through some thousands of instances. */
const pagesMax = 20;

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
