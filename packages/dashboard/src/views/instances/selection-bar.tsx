import { Ban, Pause, Play, RotateCcw, Trash2, Undo2, X } from "lucide-react";
import { type ReactNode, useEffect, useRef, useState } from "react";
import { isAbort, problemOf } from "../../api/problem.ts";
import { type BulkAction, bulkActions } from "../../bulk/bulk-actions.ts";
import { Confirm } from "../../parts/confirm.tsx";
import { counted, spokenNumber } from "../../words/numbers.ts";
import { findMatches, matchMax } from "./match-all.ts";
import type { Row } from "./row.ts";
import { asListed, type Chosen } from "./selection.ts";
import type { Source } from "./source.ts";
import type { SelectionState } from "./use-selection.ts";

const icons: Readonly<Record<BulkAction["name"], ReactNode>> = {
  pause: <Pause aria-hidden />,
  resume: <Play aria-hidden />,
  terminate: <Ban aria-hidden />,
  delete: <Trash2 aria-hidden />,
  restart: <RotateCcw aria-hidden />,
  retryFailedStep: <Undo2 aria-hidden />,
};

export function SelectionBar({
  selection,
  rows,
  source,
  mayManage,
  isBusy,
  onAct,
}: {
  readonly selection: SelectionState;
  readonly rows: readonly Row[];
  readonly source: Source;
  readonly mayManage: boolean;
  readonly isBusy: boolean;
  readonly onAct: (action: BulkAction, items: readonly Chosen[]) => void;
}) {
  const chosen = asListed(selection.chosen.values(), rows);
  const [asking, setAsking] = useState<Asking | null>(null);
  // Whoever selects others meanwhile was asked about something else.
  const asked = asking?.of === selection.chosen ? asking : null;
  return (
    <section className="selection-bar" aria-label="What is selected">
      <div className="buttons">
        <strong role="status">{spokenNumber(selection.count)} selected</strong>
        {selection.count < rows.length && (
          <button type="button" className="quiet tiny" onClick={() => selection.add(rows)}>
            Select all loaded
          </button>
        )}
        <MatchAll source={source} onFound={selection.add} />
        <button type="button" className="quiet tiny" onClick={selection.clear}>
          <X aria-hidden />
          Clear
        </button>
      </div>
      {mayManage && !asked && (
        <div className="buttons">
          {bulkActions.map((action) => {
            const items = chosen.filter(action.isFor);
            if (items.length === 0) return null;
            const isAll = items.length === chosen.length;
            return (
              <button
                key={action.name}
                type="button"
                className={isFinal(action) ? "danger" : ""}
                disabled={isBusy}
                onClick={() => {
                  if (action.question) setAsking({ action, items, of: selection.chosen });
                  else onAct(action, items);
                }}
              >
                {icons[action.name]}
                {isAll ? action.words : `${action.words} (${spokenNumber(items.length)})`}
              </button>
            );
          })}
        </div>
      )}
      {asked?.action.question && (
        <Confirm
          question={asked.action.question(counted(asked.items.length, "instance"))}
          confirm={`${asked.action.words} ${spokenNumber(asked.items.length)}`}
          isSafe={!isFinal(asked.action)}
          onConfirm={() => onAct(asked.action, asked.items)}
          onClose={() => setAsking(null)}
        />
      )}
    </section>
  );
}

/** A question stands in the place of all actions until it is answered. */
interface Asking {
  readonly action: BulkAction;
  readonly items: readonly Chosen[];
  /** What was selected when it was asked. */
  readonly of: SelectionState["chosen"];
}

/** Everything that matches the filters, loaded or not. */
function MatchAll({
  source,
  onFound,
}: {
  readonly source: Source;
  readonly onFound: (found: readonly Chosen[]) => void;
}) {
  const [count, setCount] = useState<number | null>(null);
  const [note, setNote] = useState("");
  const leaving = useRef<AbortController | null>(null);
  useEffect(() => () => leaving.current?.abort(), []);
  const find = async (): Promise<void> => {
    leaving.current = new AbortController();
    setCount(0);
    setNote("");
    try {
      const { found, isMore } = await findMatches(source, leaving.current.signal, setCount);
      onFound(found);
      if (isMore) setNote(`The first ${spokenNumber(matchMax)}; there are more.`);
    } catch (thrown) {
      if (!isAbort(thrown)) setNote(problemOf(thrown).message);
    }
    setCount(null);
  };
  if (count !== null) {
    return (
      <span className="small buttons" role="status">
        {spokenNumber(count)} found so far
        <button type="button" className="tiny" onClick={() => leaving.current?.abort()}>
          Stop
        </button>
      </span>
    );
  }
  return (
    <>
      <button type="button" className="quiet tiny" onClick={() => void find()}>
        Select all that match
      </button>
      {note && <span className="small dim">{note}</span>}
    </>
  );
}

/** It cannot be undone. */
function isFinal({ name }: BulkAction): boolean {
  return name === "terminate" || name === "delete";
}
