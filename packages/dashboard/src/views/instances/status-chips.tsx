import { Skull } from "lucide-react";
import { useSession } from "../../api/session.tsx";
import { useLoaded } from "../../api/use-loaded.ts";
import { Status } from "../../parts/status.tsx";
import { spokenNumber } from "../../words/numbers.ts";
import { statuses } from "../../words/statuses.ts";
import type { FilterPart } from "./filter-bar.tsx";
import { toggled } from "./filters.ts";

const countMs = 5000;

/** The counts are of all instances of the workflow, whatever else is filtered. */
export function StatusChips({ filters, set }: FilterPart) {
  const { client } = useSession();
  const { workflowName } = filters;
  const { value: counts } = useLoaded({
    name: `counts ${workflowName ?? ""}`,
    load: (signal) => client.counts(workflowName ?? undefined, { signal }),
    everyMs: countMs,
  });
  return (
    <fieldset className="chips">
      <legend className="for-readers">Status</legend>
      {statuses.map((status) => (
        <button
          key={status}
          type="button"
          className="chip"
          aria-pressed={filters.statuses.includes(status)}
          title={counts && `${spokenNumber(counts[status])} ${status} in all`}
          onClick={() => set({ statuses: toggled(filters.statuses, status) })}
        >
          <Status status={status} bare />
          <span className="count">{counts ? spokenNumber(counts[status]) : " "}</span>
        </button>
      ))}
      <button
        type="button"
        className="chip"
        aria-pressed={filters.isDeadLetter}
        title="Only those the engine gave up on"
        onClick={() => set({ isDeadLetter: !filters.isDeadLetter })}
      >
        <Skull aria-hidden />
        dead letters
      </button>
    </fieldset>
  );
}
