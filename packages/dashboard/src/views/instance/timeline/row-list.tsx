/** The rows: as many as are on the screen. One of them can be reached by Tab, the others from there by arrow keys. */
import { type KeyboardEvent, useEffect, useLayoutEffect, useRef, useState } from "react";
import { Empty } from "../../../parts/notice.tsx";
import { useWindow } from "../../../parts/use-window.ts";
import type { Hovered } from "./card.tsx";
import type { Frame } from "./drawing.ts";
import { RowLine } from "./row-line.tsx";
import type { Row } from "./rows.ts";

export interface RowListProps {
  readonly rows: readonly Row[];
  readonly frame: Frame;
  readonly now: number;
  readonly selected: number | null;
  readonly onSelect: (index: number | null) => void;
  readonly href: (index: number) => string;
  readonly folded: ReadonlySet<string>;
  readonly onFold: (index: number) => void;
  readonly onHover: (hovered: Hovered | null) => void;
  readonly isFiltered: boolean;
  readonly isStarted: boolean;
}

export function RowList(props: RowListProps) {
  const { rows, frame, now, selected, onSelect, href, folded, onFold, onHover } = props;
  const height = useRowHeight();
  const shown = useWindow(rows.length, height);
  const [active, setActive] = useState<string | null>(null);
  const wantsFocus = useRef(false);

  // Drawn first, wherever it is; then it can have the focus, and come into sight.
  // biome-ignore lint/correctness/useExhaustiveDependencies: another one is active
  useLayoutEffect(() => {
    if (!wantsFocus.current) return;
    wantsFocus.current = false;
    const element = shown.ref.current?.querySelector<HTMLElement>("[data-active]");
    element?.focus({ preventScroll: true });
    element?.scrollIntoView({ block: "nearest" });
  }, [active, shown.ref]);

  if (rows.length === 0) return <NoRows {...props} />;
  const activeAt = rows.findIndex(({ key }) => key === active);
  const at = Array.from({ length: shown.end - shown.first }, (_, n) => shown.first + n);
  // What has the focus stays, even out of sight: else the focus would be lost.
  if (activeAt >= 0 && activeAt < shown.first) at.unshift(activeAt);
  if (activeAt >= shown.end) at.push(activeAt);
  const reachable = activeAt >= 0 ? activeAt : (at[0] ?? 0);

  const goTo = (to: number): void => {
    const next = rows[Math.max(0, Math.min(to, rows.length - 1))];
    if (!next) return;
    wantsFocus.current = true;
    setActive(next.key);
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const act = keys(reachable)[event.key];
    if (!act) return;
    if (act() === false) return;
    event.preventDefault();
  };
  const keys = (from: number): Readonly<Record<string, () => unknown>> => ({
    ArrowDown: () => goTo(from + 1),
    ArrowUp: () => goTo(from - 1),
    PageDown: () => goTo(from + 10),
    PageUp: () => goTo(from - 10),
    Home: () => goTo(0),
    End: () => goTo(rows.length - 1),
    Escape: () => (selected === null ? false : onSelect(null)),
    // Opens and closes where there is something inside; else the keys move what is seen.
    ArrowRight: () => isFolded(from) === true && foldAt(from),
    ArrowLeft: () => isFolded(from) === false && foldAt(from),
    " ": () => (rows[from]?.step ? onSelect(rows[from]?.step?.index ?? null) : false),
  });
  const isFolded = (index: number): boolean | undefined => {
    const row = rows[index];
    return row?.hasInside && row.step ? folded.has(row.key) : undefined;
  };
  const foldAt = (index: number): void => {
    const step = rows[index]?.step;
    if (step) onFold(step.index);
  };

  return (
    <div
      className="tl-rows"
      ref={shown.ref}
      role="tree"
      aria-label="Steps"
      style={{ height: rows.length * height }}
      onKeyDown={onKeyDown}
    >
      {at.map((index) => {
        const row = rows[index] as Row;
        return (
          <RowLine
            key={row.key}
            row={row}
            top={index * height}
            place={index + 1}
            count={rows.length}
            frame={frame}
            now={row.isOpen ? now : 0}
            isSelected={row.step !== null && row.step.index === selected}
            isReachable={index === reachable}
            isFolded={folded.has(row.key)}
            href={row.step ? href(row.step.index) : null}
            onSelect={onSelect}
            onFold={onFold}
            onHover={onHover}
            onFocus={setActive}
          />
        );
      })}
    </div>
  );
}

function NoRows({ isFiltered, isStarted }: RowListProps) {
  if (isFiltered) {
    return <Empty title="No step is like that.">Search for another name, or show completed ones too.</Empty>;
  }
  return isStarted ? (
    <Empty title="No steps yet.">What the workflow function does in steps appears here.</Empty>
  ) : (
    <Empty title="It has not begun yet.">Its steps appear here when a runner has taken it.</Empty>
  );
}

const narrow = "(max-width: 720px)";

/** As in timeline.css. */
function useRowHeight(): number {
  const [isNarrow, setNarrow] = useState(() => matchMedia(narrow).matches);
  useEffect(() => {
    const media = matchMedia(narrow);
    const onChange = (): void => setNarrow(media.matches);
    media.addEventListener("change", onChange);
    return () => media.removeEventListener("change", onChange);
  }, []);
  return isNarrow ? 52 : 32;
}
