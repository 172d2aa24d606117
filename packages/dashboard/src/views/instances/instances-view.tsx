import "../../look/instances.css";
import "../../look/instance-rows.css";
import { ArrowUp } from "lucide-react";
import { useMemo, useState } from "react";
import { useSession } from "../../api/session.tsx";
import { BulkReport } from "../../bulk/bulk-report.tsx";
import { useBulk } from "../../bulk/use-bulk.ts";
import { ProblemNotice } from "../../parts/notice.tsx";
import { useQuery } from "../../use-query.ts";
import { counted } from "../../words/numbers.ts";
import { FilterBar } from "./filter-bar.tsx";
import { type Filters, nameOf, readFilters } from "./filters.ts";
import { useKeptPlace } from "./kept-place.ts";
import { lookedAtMax } from "./listing.ts";
import { RowList } from "./row-list.tsx";
import { SelectionBar } from "./selection-bar.tsx";
import { useListing } from "./use-listing.ts";
import { useSelection } from "./use-selection.ts";

export function InstancesView() {
  const query = useQuery();
  const filters = useMemo(() => readFilters(query.get), [query]);
  return (
    <>
      <div className="head">
        <h1>Instances</h1>
      </div>
      <FilterBar filters={filters} query={query} />
      <Instances key={nameOf(filters)} filters={filters} />
    </>
  );
}

function Instances({ filters }: { readonly filters: Filters }) {
  const { access } = useSession();
  const [isScrolled, setScrolled] = useState(false);
  const selection = useSelection();
  const kept = useKeptPlace(nameOf(filters));
  // Nothing may move while a person reads further down, or picks.
  const live = useListing(filters, isScrolled || selection.count > 0, kept.listing);
  kept.keep(live.listing);
  const { bulk, start, stop, dismiss } = useBulk();
  const { listing, problem, isStale } = live;
  const showNew = (): void => {
    live.showNew();
    window.scrollTo(0, 0);
  };
  return (
    <section className="stack close" aria-label="List of instances">
      <div className="list-notes" aria-live="polite">
        {problem && <ProblemNotice problem={problem} again={live.again} />}
        {!problem && isStale && (
          <p className="small dim">The connection was lost. Trying again; what you see may be old.</p>
        )}
      </div>
      <div className="new-rows" aria-live="polite">
        {listing && listing.newCount > 0 && (
          <button type="button" className="main-button" onClick={showNew}>
            <ArrowUp aria-hidden />
            {listing.isGap ? `${listing.newCount}+ new` : `${listing.newCount} new`}
          </button>
        )}
      </div>
      {!(problem && !listing) && (
        <RowList live={live} filters={filters} selection={selection} onScrolled={setScrolled} />
      )}
      {listing && filters.idPrefix !== "" && listing.shortPages > 0 && (
        <p className="small dim" role="status">
          Looked at up to {counted(listing.shortPages * lookedAtMax, "instance")} so far,{" "}
          {filters.order === "desc" ? "newest" : "oldest"} first.
        </p>
      )}
      <div className="dock">
        {bulk && <BulkReport bulk={bulk} stop={stop} dismiss={dismiss} />}
        {selection.count > 0 && (
          <SelectionBar
            selection={selection}
            rows={listing?.rows ?? []}
            source={live.source}
            mayManage={access.management}
            isBusy={bulk?.progress.state === "running"}
            onAct={(action, items) => {
              selection.clear();
              void start(action, items);
            }}
          />
        )}
      </div>
    </section>
  );
}
