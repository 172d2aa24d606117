import type { WireLogLine } from "everstep/client";
import { useEffect, useId, useMemo, useRef, useState } from "react";

/** Any category; those that were seen are offered. */
export function CategoryField({
  category,
  lines,
  onCategory,
}: {
  readonly category: string;
  readonly lines: readonly WireLogLine[];
  readonly onCategory: (category: string | null) => void;
}) {
  const id = useId();
  const [text, setText] = useState(category);
  const seen = useRef(new Set<string>());
  const known = useMemo(() => {
    for (const line of lines) seen.current.add(line.category);
    return [...seen.current].sort();
  }, [lines]);
  useEffect(() => setText(category), [category]);
  const take = (next: string): void => onCategory(next.trim() === "" ? null : next.trim());
  return (
    <div className="field">
      <label htmlFor={id}>Category</label>
      <input
        id={id}
        list={`${id}-known`}
        value={text}
        placeholder="All"
        autoComplete="off"
        spellCheck={false}
        onChange={(event) => {
          setText(event.target.value);
          // Chosen from those that are offered, or emptied.
          if (event.target.value === "" || seen.current.has(event.target.value)) take(event.target.value);
        }}
        onBlur={() => take(text)}
        onKeyDown={(event) => {
          if (event.key === "Enter") take(text);
        }}
      />
      <datalist id={`${id}-known`}>
        {known.map((each) => (
          <option key={each} value={each} />
        ))}
      </datalist>
    </div>
  );
}
