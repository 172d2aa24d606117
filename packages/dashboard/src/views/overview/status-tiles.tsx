import type { WireOverview } from "everstep/client";
import { Link } from "wouter";
import { links } from "../../links.ts";
import { Bone } from "../../parts/skeleton.tsx";
import { Status } from "../../parts/status.tsx";
import { spokenNumber } from "../../words/numbers.ts";
import { statuses } from "../../words/statuses.ts";

/** Instances by status; each leads to the list of them. */
export function StatusTiles({ overview }: { readonly overview: WireOverview | undefined }) {
  const { counts, scheduled } = overview ?? {};
  return (
    <ul className="tiles" aria-label="Instances by status">
      {statuses.map((status) => (
        <li key={status}>
          <Link href={links.instances({ status })} className="tile">
            <Status status={status} bare />
            <span className="tile-count">
              {counts ? spokenNumber(counts[status]) : <Bone width="4ch" height={28} />}
              {status === "active" && scheduled && scheduled.count > 0 && (
                <span className="tile-of small dim" title="Their start is still to come.">
                  {spokenNumber(scheduled.count)}
                  {scheduled.isMore && "+"} scheduled
                </span>
              )}
            </span>
          </Link>
        </li>
      ))}
    </ul>
  );
}
