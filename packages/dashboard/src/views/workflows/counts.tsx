import type { WireCounts } from "everstep/client";
import { Link } from "wouter";
import { links } from "../../links.ts";
import { Status } from "../../parts/status.tsx";
import { spokenNumber } from "../../words/numbers.ts";
import { statuses } from "../../words/statuses.ts";

/** Each number leads to the instances it counts. */
export function Counts({
  workflowName,
  counts,
}: {
  readonly workflowName: string;
  readonly counts: WireCounts;
}) {
  return (
    <ul className="count-links">
      {statuses.map((status) => (
        <li key={status}>
          <Link
            href={links.instances({ workflow: workflowName, status })}
            className={counts[status] === 0 ? "is-none" : undefined}
          >
            <Status status={status} bare />
            <strong>{spokenNumber(counts[status])}</strong>
          </Link>
        </li>
      ))}
    </ul>
  );
}
