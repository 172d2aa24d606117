import { Skull } from "lucide-react";
import { memo } from "react";
import { Link } from "wouter";
import { links } from "../../links.ts";
import { Status } from "../../parts/status.tsx";
import { useNow } from "../../parts/use-now.ts";
import { spokenAgo, spokenExact, spokenTime } from "../../words/time.ts";
import type { Row } from "./row.ts";
import { spokenLife, spokenState } from "./state-words.ts";
import type { Wait } from "./wait.ts";

export const RowLine = memo(function RowLine({
  row,
  place,
  total,
  isChosen,
  isCurrent,
  onChoose,
  wait,
}: {
  readonly row: Row;
  readonly place: number;
  /** -1 while that is not known. */
  readonly total: number;
  readonly isChosen: boolean;
  readonly isCurrent: boolean;
  readonly onChoose: (row: Row, isRange: boolean) => void;
  /** What it waits for, once that is known. */
  readonly wait: Wait | undefined;
}) {
  const { instanceId, workflowName } = row;
  const names = ["row"];
  if (isChosen) names.push("is-chosen");
  if (isCurrent) names.push("is-current");
  if (row.hasLeft) names.push("has-left");
  return (
    <li className={names.join(" ")} aria-posinset={place} aria-setsize={total}>
      <label className="pick">
        <input
          type="checkbox"
          aria-label={`Select ${instanceId}`}
          checked={isChosen}
          // A change does not tell of the shift key.
          onClick={(event) => onChoose(row, event.shiftKey)}
          onChange={() => {}}
        />
      </label>
      <Link href={links.instance(row)} className="cells" data-key={row.key} draggable={false}>
        <Status status={row.status} />
        <span className="id mono clip" title={instanceId}>
          {instanceId}
        </span>
        <span className="workflow clip" title={workflowName}>
          {workflowName}
        </span>
        <Times row={row} wait={wait} />
      </Link>
    </li>
  );
});

/** What changes with the clock. */
function Times({ row, wait }: { readonly row: Row; readonly wait: Wait | undefined }) {
  const now = useNow();
  const state = spokenState(row, now, wait);
  return (
    <>
      <time
        className="created dim clip"
        dateTime={new Date(row.createdAt).toISOString()}
        title={spokenTime(row.createdAt)}
      >
        {spokenAgo(row.createdAt, now)}
        <span className="exact">{spokenExact(row.createdAt, now)}</span>
      </time>
      <span className="life number dim">{spokenLife(row, now)}</span>
      <span className={`state ${row.status === "errored" ? "is-errored" : "clip dim"}`} title={state}>
        {row.deadLetter && (
          <span className="dead" title="The engine gave up on it.">
            <Skull aria-hidden />
            dead letter
          </span>
        )}
        {state}
      </span>
    </>
  );
}
