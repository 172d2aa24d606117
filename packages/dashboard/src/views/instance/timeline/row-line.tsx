import {
  Ban,
  ChevronDown,
  ChevronRight,
  CircleCheck,
  CircleDot,
  CircleX,
  Hourglass,
  type LucideIcon,
  Mail,
  Moon,
  SquareFunction,
} from "lucide-react";
import { type MouseEvent, memo, type PointerEvent } from "react";
import { Link } from "wouter";
import { spokenDuration } from "../../../words/time.ts";
import { Bar } from "./bar.tsx";
import type { Hovered } from "./card.tsx";
import type { Frame } from "./drawing.ts";
import { factsOf, labelOf, stateMarks } from "./facts.ts";
import type { Row, RowState } from "./rows.ts";

export interface RowLineProps {
  readonly row: Row;
  readonly top: number;
  readonly place: number;
  readonly count: number;
  readonly frame: Frame;
  readonly now: number;
  readonly isSelected: boolean;
  /** By Tab. */
  readonly isReachable: boolean;
  readonly isFolded: boolean;
  /** Null while there is no record to look at. */
  readonly href: string | null;
  readonly onSelect: (index: number | null) => void;
  readonly onFold: (index: number) => void;
  readonly onHover: (hovered: Hovered | null) => void;
  readonly onFocus: (key: string) => void;
}

const stateIcons: Readonly<Record<RowState, LucideIcon>> = {
  running: CircleDot,
  retrying: Hourglass,
  sleeping: Hourglass,
  awaiting: Hourglass,
  completed: CircleCheck,
  errored: CircleX,
  left: Ban,
};

const icons = { do: SquareFunction, sleep: Moon, waitForEvent: Mail } as const;

export const RowLine = memo(function RowLine(props: RowLineProps) {
  const { row, top, place, count, frame, now, isSelected, isReachable, isFolded, href } = props;
  const { onSelect, onFold, onHover, onFocus } = props;
  const index = row.step?.index;
  const shared = {
    className: `tl-row s-${row.state}${isSelected ? " is-selected" : ""}`,
    role: "treeitem",
    tabIndex: isReachable ? 0 : -1,
    "aria-level": row.depth + 1,
    "aria-posinset": place,
    "aria-setsize": count,
    "aria-selected": isSelected,
    ...(row.hasInside ? { "aria-expanded": !isFolded } : {}),
    "data-key": row.key,
    ...(isReachable ? { "data-active": "" } : {}),
    style: { top },
    onFocus: (event: { readonly currentTarget: HTMLElement }) => {
      onFocus(row.key);
      if (event.currentTarget.matches(":focus-visible"))
        onHover({ key: row.key, anchor: barAnchor(event.currentTarget) });
    },
    onBlur: () => onHover(null),
    onPointerLeave: () => onHover(null),
    onPointerMove: (event: PointerEvent<HTMLElement>) => {
      if (event.pointerType === "touch") return;
      const line = event.currentTarget.getBoundingClientRect();
      const track = event.currentTarget.querySelector(".tl-line")?.getBoundingClientRect();
      if (!track || event.clientX < track.left) return onHover(null);
      onHover({ key: row.key, anchor: { x: event.clientX, top: line.top, bottom: line.bottom } });
    },
  };
  const inside = (
    <>
      <span className="for-readers">{labelOf(row, now)}</span>
      <Name row={row} now={now} isFolded={isFolded} onFold={onFold} />
      <Bar row={row} frame={frame} now={now} />
    </>
  );
  if (href === null || index === undefined) return <div {...shared}>{inside}</div>;
  return (
    <Link
      href={href}
      {...shared}
      onClick={(event: MouseEvent) => {
        if (event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
        event.preventDefault();
        onSelect(isSelected ? null : index);
      }}
    >
      {inside}
    </Link>
  );
});

/** Under the part of the bar that is seen. */
function barAnchor(line: HTMLElement): Hovered["anchor"] {
  const { top, bottom, left } = line.getBoundingClientRect();
  const track = line.querySelector(".tl-line")?.getBoundingClientRect();
  const first = line.querySelector(".tl-block")?.getBoundingClientRect();
  const x = first && track ? Math.min(track.right, Math.max(track.left, first.left + first.width / 2)) : left;
  return { x, top, bottom };
}

function Name({
  row,
  now,
  isFolded,
  onFold,
}: {
  readonly row: Row;
  readonly now: number;
  readonly isFolded: boolean;
  readonly onFold: (index: number) => void;
}) {
  const Icon = icons[row.type];
  const State = stateIcons[row.state];
  const Fold = isFolded ? ChevronRight : ChevronDown;
  const { attempts, took } = factsOf(row, now);
  const index = row.step?.index;
  return (
    <span className="tl-name" aria-hidden style={{ paddingLeft: 8 + Math.min(row.depth, 6) * 16 }}>
      {/* biome-ignore lint/a11y/noStaticElementInteractions: for the mouse; with keys the arrows do it */}
      {/* biome-ignore lint/a11y/useKeyWithClickEvents: for the mouse; with keys the arrows do it */}
      <span
        className="tl-fold"
        onClick={(event) => {
          if (!row.hasInside || index === undefined) return;
          event.preventDefault();
          event.stopPropagation();
          onFold(index);
        }}
      >
        {row.hasInside && index !== undefined && <Fold />}
      </span>
      <Icon />
      <bdi className="clip" title={row.name}>
        {row.name}
      </bdi>
      {row.type === "do" && attempts > 1 && <span className="tl-attempts">×{attempts}</span>}
      <span className="tl-state">
        <State />
        <span>{stateMarks[row.state]}</span>
      </span>
      <span className="tl-took">{spokenDuration(took)}</span>
    </span>
  );
}
