import { Search } from "lucide-react";
import { Link } from "wouter";
import { useSession } from "../../api/session.tsx";
import { useLoaded } from "../../api/use-loaded.ts";
import { useDebounced } from "../../parts/use-debounced.ts";
import type { QueryState } from "../../use-query.ts";
import { CreatedFilter } from "./created-filter.tsx";
import { type Filters, isNarrowed, noFilters, writeFilters } from "./filters.ts";
import { StatusChips } from "./status-chips.tsx";

export interface FilterPart {
  readonly filters: Filters;
  set(changes: Partial<Filters>): void;
}

export function FilterBar({ filters, query }: { readonly filters: Filters; readonly query: QueryState }) {
  const set = (changes: Partial<Filters>): void => query.set(writeFilters(changes));
  return (
    <search className="filters">
      <div className="filter-fields">
        <WorkflowFilter filters={filters} set={set} />
        <IdFilter filters={filters} set={set} />
        <CreatedFilter filters={filters} set={set} />
        <div className="filter">
          <label htmlFor="filter-order">Order</label>
          <select
            id="filter-order"
            value={filters.order}
            onChange={(event) => set({ order: event.target.value === "asc" ? "asc" : "desc" })}
          >
            <option value="desc">Newest first</option>
            <option value="asc">Oldest first</option>
          </select>
        </div>
      </div>
      <div className="buttons">
        <StatusChips filters={filters} set={set} />
        {isNarrowed(filters) && (
          <Link href={query.href(noFilters)} className="small clear-filters">
            Clear filters
          </Link>
        )}
      </div>
    </search>
  );
}

function WorkflowFilter({ filters, set }: FilterPart) {
  const { client } = useSession();
  const { value = [] } = useLoaded({
    name: "workflows",
    load: (signal) => client.workflows({ signal }),
  });
  const names = value.map(({ name }) => name);
  const { workflowName } = filters;
  // One that was named in the address is shown, even if there is none.
  const all = workflowName !== null && !names.includes(workflowName) ? [workflowName, ...names] : names;
  return (
    <div className="filter">
      <label htmlFor="filter-workflow">Workflow</label>
      <select
        id="filter-workflow"
        value={workflowName ?? ""}
        onChange={(event) => set({ workflowName: event.target.value || null })}
      >
        <option value="">All workflows</option>
        {all.map((name) => (
          <option key={name}>{name}</option>
        ))}
      </select>
    </div>
  );
}

function IdFilter({ filters, set }: FilterPart) {
  const [text, setText] = useDebounced(filters.idPrefix, (idPrefix) => set({ idPrefix }));
  return (
    <div className="filter wide">
      <label htmlFor="filter-id">Id begins with</label>
      <span className="search-field">
        <Search aria-hidden />
        <input
          id="filter-id"
          type="search"
          value={text}
          maxLength={100}
          spellCheck={false}
          autoCapitalize="off"
          onChange={(event) => setText(event.target.value)}
        />
      </span>
    </div>
  );
}
