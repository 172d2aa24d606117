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
        <label className="filter">
          <span>Order</span>
          <select
            value={filters.order}
            onChange={(event) => set({ order: event.target.value === "asc" ? "asc" : "desc" })}
          >
            <option value="desc">Newest first</option>
            <option value="asc">Oldest first</option>
          </select>
        </label>
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
    <label className="filter">
      <span>Workflow</span>
      <select
        value={workflowName ?? ""}
        onChange={(event) => set({ workflowName: event.target.value || null })}
      >
        <option value="">All workflows</option>
        {all.map((name) => (
          <option key={name}>{name}</option>
        ))}
      </select>
    </label>
  );
}

function IdFilter({ filters, set }: FilterPart) {
  const [text, setText] = useDebounced(filters.idPrefix, (idPrefix) => set({ idPrefix }));
  return (
    <label className="filter wide">
      <span>Id begins with</span>
      <span className="search-field">
        <Search aria-hidden />
        <input
          type="search"
          value={text}
          maxLength={100}
          spellCheck={false}
          autoCapitalize="off"
          onChange={(event) => setText(event.target.value)}
        />
      </span>
    </label>
  );
}
