import type { WireCounts } from "everstep/client";
import { Link } from "wouter";
import { links } from "../../links.ts";
import { Bone } from "../../parts/skeleton.tsx";
import { Status } from "../../parts/status.tsx";
import { spokenNumber } from "../../words/numbers.ts";
import { statuses } from "../../words/statuses.ts";

/** Instances by status; each leads to the list of them. */
export function StatusTiles({ counts }: { readonly counts: WireCounts | undefined }) {
  return (
    <ul className="tiles" aria-label="Instances by status">
      {statuses.map((status) => (
        <li key={status}>
          <Link href={links.instances({ status })} className="tile">
            <Status status={status} bare />
            <span className="tile-count">
              {counts ? spokenNumber(counts[status]) : <Bone width="4ch" height={28} />}
            </span>
          </Link>
        </li>
      ))}
    </ul>
  );
}
