/** Who started this instance, and whom it started. */
import type { Client, WireInstanceWithMeta, WireStep } from "everstep/client";
import type { InstanceAddress } from "../../../links.ts";
import { timeOf } from "../../../words/time.ts";
import { lengthOf, type Span, union } from "../timeline/spans.ts";

export type Relative = Pick<WireInstanceWithMeta, "id" | "details" | "meta">;

export interface Family {
  /** The eldest first. */
  readonly ancestors: readonly Relative[];
  readonly children: readonly Relative[];
  /** There may be more children: only so many instances are looked at. */
  readonly isMore: boolean;
}

/** A child is created in the commit of the step that started it; clocks of processes may differ by this much. */
const slackMs = 2000;
const pageSize = 100;
const pagesMax = 10;
const ancestorsMax = 20;

/** When children can have been created: while steps ran. The shortest first, since in those few others were created. */
export function childSpans(
  steps: readonly Pick<WireStep, "type" | "createdAt" | "settledAt">[],
): readonly Span[] {
  const spans = steps.flatMap(({ type, createdAt, settledAt }) =>
    type === "do" && settledAt !== null
      ? [{ from: timeOf(createdAt) - slackMs, to: timeOf(settledAt) + slackMs }]
      : [],
  );
  return union(spans).toSorted((a, b) => lengthOf(a) - lengthOf(b));
}

export function isChildOf({ workflowName, instanceId }: InstanceAddress, { meta }: Relative): boolean {
  return meta.parent?.workflowName === workflowName && meta.parent.instanceId === instanceId;
}

export async function findFamily(
  client: Client,
  address: InstanceAddress,
  value: { readonly meta: WireInstanceWithMeta["meta"]; readonly steps: readonly WireStep[] },
  signal: AbortSignal,
): Promise<Family> {
  const [ancestors, found] = await Promise.all([
    findAncestors(client, value.meta.parent, signal),
    findChildren(client, address, childSpans(value.steps), signal),
  ]);
  return { ancestors, ...found };
}

async function findAncestors(
  client: Client,
  parent: InstanceAddress | null,
  signal: AbortSignal,
): Promise<readonly Relative[]> {
  const ancestors: Relative[] = [];
  for (let next = parent; next && ancestors.length < ancestorsMax; ) {
    // One that was pruned, or whose workflow is not here, ends the line.
    const found = await client
      .workflow(next.workflowName)
      .get(next.instanceId)
      .details({ signal })
      .catch(() => null);
    if (!found) break;
    ancestors.unshift(found);
    next = found.meta.parent;
  }
  return ancestors;
}

async function findChildren(
  client: Client,
  address: InstanceAddress,
  spans: readonly Span[],
  signal: AbortSignal,
): Promise<Pick<Family, "children" | "isMore">> {
  const children: Relative[] = [];
  let pages = 0;
  for (const { from, to } of spans) {
    let cursor: string | undefined;
    do {
      if (++pages > pagesMax) return { children, isMore: true };
      const terms = { createdFrom: from, createdBefore: to, order: "asc", brief: true, pageSize } as const;
      const page = await client.instances({ ...terms, ...(cursor === undefined ? {} : { cursor }), signal });
      children.push(...page.instances.filter((each) => isChildOf(address, each)));
      cursor = page.hasNextPage ? page.cursor : undefined;
    } while (cursor !== undefined);
  }
  return { children, isMore: false };
}
