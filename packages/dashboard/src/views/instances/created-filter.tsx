import { useId, useState } from "react";
import { useDebounced } from "../../parts/use-debounced.ts";
import { localTextOf, timeOfLocalText } from "../../words/local-time.ts";
import { zone } from "../../words/time.ts";
import type { FilterPart } from "./filter-bar.tsx";
import { type Span, spans } from "./filters.ts";

/** When it was created: a span up to now, or between two times in the reader's zone. */
export function CreatedFilter({ filters, set }: FilterPart) {
  const { last, createdFrom, createdBefore } = filters;
  const [isOpen, setOpen] = useState(false);
  const isBetween = last === null && (isOpen || createdFrom !== null || createdBefore !== null);
  const choose = (choice: string): void => {
    setOpen(choice === "between");
    set({
      last: Object.hasOwn(spans, choice) ? (choice as Span) : null,
      ...(choice === "between" ? {} : { createdFrom: null, createdBefore: null }),
    });
  };
  return (
    <>
      <div className="filter">
        <label htmlFor="filter-created">Created</label>
        <select
          id="filter-created"
          value={last ?? (isBetween ? "between" : "")}
          onChange={(event) => choose(event.target.value)}
        >
          <option value="">At any time</option>
          {Object.entries(spans).map(([span, { words }]) => (
            <option key={span} value={span}>
              {words}
            </option>
          ))}
          <option value="between">Between two times</option>
        </select>
      </div>
      {isBetween && (
        <>
          <TimeField label="Created from" at={createdFrom} onAt={(at) => set({ createdFrom: at })} />
          <TimeField label="Created until" at={createdBefore} onAt={(at) => set({ createdBefore: at })} />
        </>
      )}
    </>
  );
}

function TimeField({
  label,
  at,
  onAt,
}: {
  readonly label: string;
  readonly at: number | null;
  readonly onAt: (at: number | null) => void;
}) {
  const id = useId();
  const [text, setText] = useDebounced(localTextOf(at), (next) => onAt(timeOfLocalText(next)), 500);
  return (
    <div className="filter" title={`In ${zone}`}>
      <label htmlFor={id}>{label}</label>
      <input id={id} type="datetime-local" value={text} onChange={(event) => setText(event.target.value)} />
    </div>
  );
}
