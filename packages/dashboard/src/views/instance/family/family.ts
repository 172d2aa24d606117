/** Who started this instance, and whom it started. */
import type { Client, WireInstanceWithMeta, WireRef, WireStep } from "everstep/client";
import { timeOf } from "../../../words/time.ts";
import { lengthOf, type Span, union } from "../timeline/spans.ts";

export interface Family {
  /** The eldest first. */
  readonly ancestors: readonly WireInstanceWithMeta[];
  readonly children: readonly WireInstanceWithMeta[];
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

export function isChildOf({ workflowName, instanceId }: WireRef, { meta }: WireInstanceWithMeta): boolean {
  return meta.parent?.workflowName === workflowName && meta.parent.instanceId === instanceId;
}

export async function findFamily(
  client: Client,
  address: WireRef,
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
  parent: WireRef | null,
  signal: AbortSignal,
): Promise<readonly WireInstanceWithMeta[]> {
  const ancestors: WireInstanceWithMeta[] = [];
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
  address: WireRef,
  spans: readonly Span[],
  signal: AbortSignal,
): Promise<Pick<Family, "children" | "isMore">> {
  const children: WireInstanceWithMeta[] = [];
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
