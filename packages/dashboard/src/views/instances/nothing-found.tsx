import { Link } from "wouter";
import { useSession } from "../../api/session.tsx";
import { links } from "../../links.ts";
import { Empty } from "../../parts/notice.tsx";
import { useQuery } from "../../use-query.ts";
import { type Filters, isNarrowed, noFilters } from "./filters.ts";

export function NothingFound({ filters }: { readonly filters: Filters }) {
  const query = useQuery();
  const { access } = useSession();
  if (isNarrowed(filters)) {
    return (
      <Empty title="No instance matches these filters.">
        <Link href={query.href(noFilters)}>Clear all filters</Link>
      </Empty>
    );
  }
  return (
    <Empty title="There are no instances yet.">
      <span>
        {access.instanceCreation ? (
          <>
            <Link href={links.workflows}>Choose a workflow</Link> to start one, or create one in code with{" "}
            <code>workflow.create()</code>.
          </>
        ) : (
          <>They appear here as soon as one is created.</>
        )}
      </span>
    </Empty>
  );
}
