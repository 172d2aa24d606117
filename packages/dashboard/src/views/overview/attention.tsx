/** What may want somebody's attention: each with what it means and where to look. */
import type { WireOverview } from "everstep/client";
import type { ReactNode } from "react";
import { Link } from "wouter";
import { links } from "../../links.ts";
import { useNow } from "../../parts/use-now.ts";
import { When } from "../../parts/when.tsx";
import { spokenNumber } from "../../words/numbers.ts";
import { spokenDuration } from "../../words/time.ts";

/** Due for longer than this, it should have been taken. */
const patienceMs = 10_000;

export function Attention({ overview }: { readonly overview: WireOverview }) {
  const { overdue, retries, deadLetters, oldestWaiting, oldestActive } = overview;
  const now = useNow();
  const lateMs = overdue.oldestDueAt === null ? 0 : Math.max(0, now - Date.parse(overdue.oldestDueAt));
  return (
    <dl className="attention">
      <Fact
        name="Due now"
        isBad={lateMs > patienceMs}
        about={
          overdue.count === 0
            ? "nothing waits for a runner"
            : lateMs > patienceMs
              ? `the oldest for ${spokenDuration(lateMs)}: are there enough runners?`
              : "a runner takes them in a moment"
        }
      >
        {most(overdue)}
      </Fact>
      <Fact
        name="Retries due"
        about={
          retries.nextAt === null ? (
            "none within the hour"
          ) : (
            <>
              within the hour, the next <When at={retries.nextAt} isShort />
            </>
          )
        }
      >
        {most(retries)}
      </Fact>
      <Fact
        name="Dead letters"
        isBad={deadLetters.count > 0}
        about={deadLetters.count === 0 ? "no dead letters" : <Link href={links.deadLetters()}>Review</Link>}
      >
        {most(deadLetters)}
      </Fact>
      <Oldest name="Oldest waiting" instance={oldestWaiting} none="nothing waits" />
      <Oldest name="Oldest active" instance={oldestActive} none="nothing is active" />
    </dl>
  );
}

function Oldest({
  name,
  instance,
  none,
}: {
  readonly name: string;
  readonly instance: WireOverview["oldestWaiting"];
  readonly none: string;
}) {
  if (!instance) {
    return (
      <Fact name={name} about={none}>
        –
      </Fact>
    );
  }
  return (
    <Fact
      name={name}
      about={
        <>
          {instance.workflowName}, created <When at={instance.createdAt} isShort />
        </>
      }
    >
      <Link href={links.instance(instance)} className="mono clip" title={instance.instanceId}>
        {instance.instanceId}
      </Link>
    </Fact>
  );
}

function Fact({
  name,
  about,
  isBad = false,
  children,
}: {
  readonly name: string;
  readonly about: ReactNode;
  readonly isBad?: boolean;
  readonly children: ReactNode;
}) {
  return (
    <div className={isBad ? "fact is-errored" : "fact"}>
      <dt>{name}</dt>
      <dd className="fact-value">{children}</dd>
      <dd className="small dim">{about}</dd>
    </div>
  );
}

function most({ count, isMore }: { readonly count: number; readonly isMore: boolean }): string {
  return `${spokenNumber(count)}${isMore ? "+" : ""}`;
}
