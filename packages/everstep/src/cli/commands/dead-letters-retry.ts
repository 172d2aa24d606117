import type { Client, InstanceClient } from "../../fetch-client/index.ts";
import { type CommandContext, defineCommand } from "../command.ts";
import { instanceOf, nameOf } from "../instance-of.ts";
import { painted } from "../output/paint.ts";
import { pageSizeMax } from "../paging.ts";
import { UsageError } from "../problems.ts";

export const deadLettersRetry = defineCommand({
  path: ["dead-letters", "retry"],
  group: "Instances",
  summary: "let instances go on that the engine gave up on",
  description: [
    "With --all every dead letter gets another attempt, one after the other, with a line for each.",
  ],
  connects: true,
  arguments: [
    {
      name: "workflow",
      asOption: true,
      optional: true,
      summary: "the workflow's name; with --all, those of this workflow only",
    },
    { name: "id", asOption: true, optional: true, summary: "the instance's id; left out with --all" },
  ],
  options: {
    all: { type: "flag", summary: "every dead letter" },
    delay: { summary: "wait this long first, for instance 10m" },
  },
  examples: [
    { line: "dead-letters retry order o-17", about: "one of them" },
    { line: "dead-letters retry --all", about: "all of them, after the cause was repaired" },
    { line: "dead-letters retry --all --workflow order", about: "all of one workflow" },
  ],
  async run(context) {
    const { all, delay } = context.values;
    const options = { delay };
    if (all) return retryAll(context, options);
    const { workflow, id } = namesIn(context.values);
    const instance = await instanceOf({ values: { workflow, id }, connect: context.connect });
    await instance.retryFailedStep(options);
    context.out.line(`Retried ${nameOf(instance)}.`);
  },
});

interface Names {
  readonly workflow: string | undefined;
  readonly id: string | undefined;
}

/** One word alone is the id, as everywhere. */
function namesIn({ workflow, id }: Names): { readonly workflow: string | undefined; readonly id: string } {
  if (id !== undefined) return { workflow, id };
  if (workflow !== undefined) return { workflow: undefined, id: workflow };
  throw new UsageError(
    '"everstep dead-letters retry" needs <id>, or --all.',
    "For example: everstep dead-letters retry order o-17",
  );
}

async function retryAll(
  { values, out, connect }: Pick<CommandContext<Names>, "values" | "out" | "connect">,
  options: { readonly delay: string | undefined },
): Promise<0 | 70> {
  if (values.id !== undefined) throw new UsageError("--all and <id> are both given; one is enough.");
  const client = await connect();
  let retried = 0;
  let refused = 0;
  for await (const instance of everyDeadLetter(client, values.workflow)) {
    try {
      await instance.retryFailedStep(options);
      out.line(`${++retried + refused}. retried ${nameOf(instance)}`);
    } catch (error) {
      if (!isRefusal(error)) throw error;
      out.line(
        painted("red", `${retried + ++refused}. could not retry ${nameOf(instance)}: ${error.message}`),
      );
    }
  }
  const total = retried + refused;
  out.line(`Retried ${retried} of ${total} dead letter${total === 1 ? "" : "s"}.`);
  return refused === 0 ? 0 : 70;
}

/** Each once, even if one comes back to the list because it failed again meanwhile. */
async function* everyDeadLetter(
  client: Client,
  workflow: string | undefined,
): AsyncGenerator<InstanceClient> {
  const seen = new Set<string>();
  let cursor: string | undefined;
  do {
    const page = await client.deadLetters({
      pageSize: pageSizeMax,
      workflowName: workflow,
      cursor,
    });
    for (const { id, meta } of page.instances) {
      const name = nameOf({ workflowName: meta.workflowName, id });
      if (!seen.has(name)) yield client.workflow(meta.workflowName).get(id);
      seen.add(name);
    }
    cursor = page.hasNextPage ? page.cursor : undefined;
  } while (cursor !== undefined);
}

/** This one cannot be retried, which says nothing about the next. */
function isRefusal(error: unknown): error is Error {
  const { code } = Object(error) as { readonly code?: unknown };
  return (
    code === "FAILED_STEP_NOT_RETRYABLE" || code === "INSTANCE_NOT_ERRORED" || code === "INSTANCE_NOT_FOUND"
  );
}
