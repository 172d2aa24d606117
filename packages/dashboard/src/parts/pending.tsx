import type { Problem } from "../api/problem.ts";
import { ProblemNotice } from "./notice.tsx";
import { Bones } from "./skeleton.tsx";

/** Inside of a panel: what stands there before the first answer, and what went wrong with the last. */
export function Pending({
  isThere,
  problem,
  again,
  rows,
}: {
  /** There is an answer, be it an old one. */
  readonly isThere: boolean;
  readonly problem: Problem | undefined;
  readonly again: () => void;
  readonly rows: number;
}) {
  if (isThere && !problem) return null;
  return (
    <div className="inside">
      {problem ? <ProblemNotice problem={problem} again={again} /> : <Bones rows={rows} />}
    </div>
  );
}

export function MoreButton({ isMore, more }: { readonly isMore: boolean; readonly more: () => void }) {
  if (!isMore) return null;
  return (
    <div className="inside">
      <button type="button" onClick={more}>
        Show more
      </button>
    </div>
  );
}
