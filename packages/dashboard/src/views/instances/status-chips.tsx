import { Skull } from "lucide-react";
import { useSession } from "../../api/session.tsx";
import { useLoaded } from "../../api/use-loaded.ts";
import { Status } from "../../parts/status.tsx";
import { spokenNumber } from "../../words/numbers.ts";
import { statuses } from "../../words/statuses.ts";
import type { FilterPart } from "./filter-bar.tsx";
import { hasCounts, toggled } from "./filters.ts";

const countMs = 5000;

/** With counts, where there are some for what is filtered. */
export function StatusChips({ filters, set }: FilterPart) {
  const { client } = useSession();
  const { workflowName } = filters;
  const isCounted = hasCounts(filters);
  const { value } = useLoaded({
    name: isCounted ? `counts ${workflowName ?? ""}` : null,
    load: (signal) => client.counts(workflowName ?? undefined, { signal }),
    everyMs: countMs,
  });
  const counts = isCounted ? value : undefined;
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
          {isCounted && <span className="count">{counts ? spokenNumber(counts[status]) : " "}</span>}
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
