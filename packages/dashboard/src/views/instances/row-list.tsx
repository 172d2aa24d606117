import { useCallback, useEffect, useRef, useState } from "react";
import { ProblemNotice } from "../../parts/notice.tsx";
import { Bone } from "../../parts/skeleton.tsx";
import { useMedia } from "../../parts/use-media.ts";
import { useWindow } from "../../parts/use-window.ts";
import { counted, spokenNumber } from "../../words/numbers.ts";
import type { Filters } from "./filters.ts";
import { NothingFound } from "./nothing-found.tsx";
import type { Row } from "./row.ts";
import { RowLine } from "./row-line.tsx";
import { type LiveListing, useRenewal } from "./use-listing.ts";
import { useRowKeys } from "./use-row-keys.ts";
import type { SelectionState } from "./use-selection.ts";
import { useWaits } from "./use-waits.ts";

/** Rows that are loaded ahead of those on the screen. */
const ahead = 150;
/** Pages in which nothing was found before a person is asked whether to look further. */
const emptyPagesMax = 50;

export function RowList({
  live,
  filters,
  selection,
  onScrolled,
}: {
  readonly live: LiveListing;
  readonly filters: Filters;
  readonly selection: SelectionState;
  readonly onScrolled: (isScrolled: boolean) => void;
}) {
  const { listing, loadMore } = live;
  const rows = listing?.rows ?? [];
  const rowHeight = useMedia("(max-width: 720px)") ? 92 : 40;
  const { ref, first, end } = useWindow(rows.length, rowHeight);
  const keys = useRowKeys({ rows, rowHeight, list: ref, selection });
  useRenewal(live, { first, end });
  const shown = rows.slice(first, end);
  const waitOf = useWaits(shown);

  useEffect(() => onScrolled(first > 0), [first, onScrolled]);

  const [lookMore, setLookMore] = useState(1);
  const isTired = (listing?.shortPages ?? 0) >= emptyPagesMax * lookMore;
  const isWanted = listing?.next !== undefined && end + ahead > rows.length && !live.moreProblem && !isTired;
  // biome-ignore lint/correctness/useExhaustiveDependencies: every page that came asks for the next, even an empty one
  useEffect(() => {
    if (isWanted && !live.isLoadingMore) loadMore();
  }, [isWanted, live.isLoadingMore, listing?.next, loadMore]);

  const latest = useRef(rows);
  latest.current = rows;
  const { toggle } = selection;
  const choose = useCallback(
    (row: Row, isRange: boolean) => toggle(row, isRange ? latest.current : null),
    [toggle],
  );

  const areAllChosen =
    rows.length > 0 && selection.count >= rows.length && rows.every(({ key }) => selection.chosen.has(key));
  const isNothing = listing && rows.length === 0 && (listing.next === undefined || isTired);
  return (
    <div className="panel list">
      <div className="list-head">
        <label className="pick">
          <input
            type="checkbox"
            aria-label="Select all that are loaded"
            title="Select all that are loaded"
            checked={areAllChosen}
            disabled={rows.length === 0}
            onChange={() => (areAllChosen ? selection.clear() : selection.add(rows))}
          />
        </label>
        <div className="cells" aria-hidden>
          <span>Status</span>
          <span>Id</span>
          <span>Workflow</span>
          <span>Created</span>
          <span className="number">Duration</span>
          <span>Now</span>
        </div>
      </div>
      {!listing && <WaitingRows count={10} rowHeight={rowHeight} />}
      {isNothing ? (
        <NothingFound filters={filters} />
      ) : (
        <div ref={ref} className="rows" style={{ height: rows.length * rowHeight }}>
          <ul
            style={{ transform: `translateY(${first * rowHeight}px)` }}
            aria-label="Instances"
            onFocus={keys.onFocus}
          >
            {shown.map((row, n) => (
              <RowLine
                key={row.key}
                row={row}
                place={first + n + 1}
                total={listing?.next === undefined ? rows.length : -1}
                isChosen={selection.chosen.has(row.key)}
                isCurrent={keys.current === row.key}
                onChoose={choose}
                wait={waitOf(row)}
              />
            ))}
          </ul>
        </div>
      )}
      {live.moreProblem && (
        <div className="inside">
          <ProblemNotice problem={live.moreProblem} again={loadMore} />
        </div>
      )}
      {listing?.next !== undefined && !isTired && !live.moreProblem && (
        <WaitingRows count={1} rowHeight={rowHeight} />
      )}
      {listing?.next !== undefined && isTired && (
        <div className="list-end">
          <button type="button" onClick={() => setLookMore((last) => last + 1)}>
            Look further
          </button>
        </div>
      )}
      {listing && rows.length > 0 && (
        <p className="list-end small dim">
          {listing.next === undefined
            ? counted(rows.length, "instance")
            : `${spokenNumber(rows.length)} loaded`}
        </p>
      )}
    </div>
  );
}

function WaitingRows({ count, rowHeight }: { readonly count: number; readonly rowHeight: number }) {
  return (
    <div aria-busy="true">
      <span className="for-readers">Loading</span>
      {Array.from({ length: count }, (_, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: they are all alike
        <div key={at} className="waiting-row" style={{ height: rowHeight }}>
          <Bone width={88} height={16} />
          <Bone width={`${30 + ((at * 13) % 25)}%`} height={16} />
        </div>
      ))}
    </div>
  );
}
