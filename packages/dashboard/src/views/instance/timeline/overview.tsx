/** The whole in one strip: what the instance was at, and which part of it is seen below. */
import { type PointerEvent, useRef } from "react";
import type { Phase } from "./phases.ts";
import type { Scale } from "./scale.ts";
import type { View } from "./use-view.ts";
import { moved } from "./view-range.ts";

export function Overview({
  phases,
  scale,
  view,
  isLive,
}: {
  readonly phases: readonly Phase[];
  readonly scale: Scale;
  readonly view: View;
  readonly isLive: boolean;
}) {
  const strip = useRef<HTMLDivElement>(null);
  const { begin, end } = view.range;
  const drag = (event: PointerEvent): void => {
    const { left = 0, width = 1 } = strip.current?.getBoundingClientRect() ?? {};
    const middle = (event.clientX - left) / width;
    view.set(moved(view.range, (middle - (begin + end) / 2) / (end - begin)));
  };
  return (
    <div
      className={view.isZoomed ? "tl-overview is-zoomed" : "tl-overview"}
      ref={strip}
      onPointerDown={(event) => {
        if (!view.isZoomed || event.button !== 0) return;
        event.currentTarget.setPointerCapture(event.pointerId);
        drag(event);
      }}
      onPointerMove={(event) => {
        if (view.isZoomed && event.buttons === 1) drag(event);
      }}
      aria-hidden
    >
      {joined(phases, scale).map(({ kind, left, right }, n) => (
        <span
          // biome-ignore lint/suspicious/noArrayIndexKey: they have no other name, and no state
          key={n}
          className={`is-${kind}`}
          style={{ left: percent(left), width: `max(1px, ${percent(right - left)})` }}
        />
      ))}
      {view.isZoomed && (
        <span className="tl-window" style={{ left: percent(begin), width: percent(end - begin) }} />
      )}
      {isLive && <span className="tl-overview-rest" style={{ left: percent(last(phases, scale)) }} />}
    </div>
  );
}

/** Thousands of phases are not thousands of elements: what is too narrow to be seen goes with its neighbour. */
function joined(phases: readonly Phase[], scale: Scale) {
  const seen = 1 / 600;
  const parts: { kind: Phase["kind"]; left: number; right: number }[] = [];
  for (const { kind, from, to } of phases) {
    const left = scale.placeOf(from);
    const right = scale.placeOf(to);
    const before = parts.at(-1);
    if (!before) parts.push({ kind, left, right });
    else if (before.kind === kind || right - left < seen) before.right = right;
    else if (before.right - before.left < seen) Object.assign(before, { kind, right });
    else parts.push({ kind, left, right });
  }
  return parts;
}

function last(phases: readonly Phase[], scale: Scale): number {
  const phase = phases.at(-1);
  return phase ? scale.placeOf(phase.to) : 0;
}

function percent(place: number): string {
  return `${Math.round(place * 1e5) / 1e3}%`;
}
