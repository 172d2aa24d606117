import "../../look/dead-letters.css";
import type { WireInstanceWithMeta } from "everstep/client";
import { Undo2 } from "lucide-react";
import { Link } from "wouter";
import { useSession } from "../../api/session.tsx";
import { useLoaded } from "../../api/use-loaded.ts";
import { usePages } from "../../api/use-pages.ts";
import { type BulkAction, type BulkItem, bulkActions } from "../../bulk/bulk-actions.ts";
import { BulkReport } from "../../bulk/bulk-report.tsx";
import { useBulk } from "../../bulk/use-bulk.ts";
import { links } from "../../links.ts";
import { ConfirmButton } from "../../parts/confirm.tsx";
import { Empty } from "../../parts/notice.tsx";
import { Panel } from "../../parts/panel.tsx";
import { MoreButton, Pending } from "../../parts/pending.tsx";
import { When } from "../../parts/when.tsx";
import { useQuery } from "../../use-query.ts";
import { counted } from "../../words/numbers.ts";

const pageSize = 100;
const retryFailedStep = bulkActions.find(({ name }) => name === "retryFailedStep") as BulkAction;

export function DeadLettersView() {
  const { client, access } = useSession();
  const query = useQuery();
  const workflowName = query.get("workflow") ?? undefined;
  const workflows = useLoaded({ name: "workflows", load: (signal) => client.workflows({ signal }) });
  const { items, isMore, more, problem, reload } = usePages({
    name: `dead letters ${workflowName ?? ""}`,
    read: async (page) => {
      const { instances, ...end } = await client.deadLetters({ pageSize, workflowName, ...page });
      return { items: instances, ...end };
    },
    everyMs: 2000,
  });
  const { bulk, start, stop, dismiss } = useBulk();
  const isBusy = bulk?.progress.state === "running";
  const retry = async (letters: readonly WireInstanceWithMeta[]): Promise<void> => {
    await start(retryFailedStep, letters.map(itemOf));
    reload();
  };
  const found = items ?? [];
  return (
    <>
      <div className="head">
        <h1>Dead letters</h1>
        <span className="dim">
          Instances the engine gave up on. Retrying gives the step that failed one more attempt.
        </span>
        <div className="end">
          <select
            aria-label="Workflow"
            value={workflowName ?? ""}
            onChange={(event) => query.set({ workflow: event.target.value })}
          >
            <option value="">All workflows</option>
            {workflows.value?.map(({ name }) => (
              <option key={name}>{name}</option>
            ))}
          </select>
        </div>
      </div>
      {bulk && <BulkReport bulk={bulk} stop={stop} dismiss={dismiss} />}
      <Panel
        title={items ? `${counted(found.length, "dead letter")}${isMore ? " and more" : ""}` : "Dead letters"}
        end={
          access.management &&
          found.length > 0 && (
            <ConfirmButton
              label="Retry all failed steps"
              question={`Give ${found.length === 1 ? "it" : `all ${found.length}`} another chance?`}
              confirm="Retry"
              isBusy={isBusy}
              isSafe
              icon={<Undo2 aria-hidden />}
              onConfirm={() => void retry(found)}
            />
          )
        }
        flush
      >
        <Pending isThere={items !== undefined} problem={problem} again={reload} rows={5} />
        {items?.length === 0 && (
          <Empty title="No dead letters">
            An instance comes here when a step has used up its retries, or every process that ran it died.
          </Empty>
        )}
        <ul className="entries">
          {found.map((instance) => (
            <Letter
              key={`${instance.meta.workflowName}/${instance.id}`}
              instance={instance}
              retry={access.management && !isBusy ? () => void retry([instance]) : null}
            />
          ))}
        </ul>
        <MoreButton isMore={isMore} more={more} />
      </Panel>
    </>
  );
}

function Letter({
  instance: { id, meta, details },
  retry,
}: {
  readonly instance: WireInstanceWithMeta;
  readonly retry: (() => void) | null;
}) {
  return (
    <li className="letter">
      <div className="letter-text">
        <div className="letter-name">
          <Link href={links.instance({ workflowName: meta.workflowName, instanceId: id })} className="mono">
            {id}
          </Link>
          <span className="dim">
            {meta.workflowName}, given up <When at={meta.completedAt} />
          </span>
        </div>
        <div className="letter-error">
          {details.error ? `${details.error.name}: ${details.error.message}` : "The error was not recorded."}
        </div>
      </div>
      {retry && (
        <button type="button" onClick={retry}>
          <Undo2 aria-hidden />
          Retry failed step
        </button>
      )}
    </li>
  );
}

function itemOf({ id, meta: { workflowName }, details: { status } }: WireInstanceWithMeta): BulkItem {
  return { workflowName, instanceId: id, status };
}
