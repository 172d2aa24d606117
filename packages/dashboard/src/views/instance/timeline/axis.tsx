import { type PointerEvent, useState } from "react";
import { spokenDuration, spokenTime } from "../../../words/time.ts";
import type { Frame } from "./drawing.ts";
import type { Scale } from "./scale.ts";
import { ticksOf } from "./ticks.ts";
import type { Zoom } from "./use-zoom.ts";

/** Fewer pixels are a click, not a range. */
const dragMin = 4;

export function Axis({
  scale,
  frame,
  origin,
  zoom,
  isLive,
}: {
  readonly scale: Scale;
  readonly frame: Frame;
  readonly origin: number;
  readonly zoom: Zoom;
  readonly isLive: boolean;
}) {
  const { width, inner, leftOf } = frame;
  const ticks = width === 0 ? [] : ticksOf({ pieces: scale.pieces, origin, width, leftOf });
  const [drag, setDrag] = useState<{ readonly from: number; readonly to: number } | null>(null);
  const at = (event: PointerEvent<HTMLElement>): number => {
    const { left } = event.currentTarget.getBoundingClientRect();
    return Math.min(inner, Math.max(0, event.clientX - left));
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: keys and buttons do the same
    <div
      className="tl-axis"
      title="Drag to look closer"
      onPointerDown={(event) => {
        if (event.button !== 0) return;
        event.currentTarget.setPointerCapture(event.pointerId);
        setDrag({ from: at(event), to: at(event) });
      }}
      onPointerMove={(event) => drag && setDrag({ from: drag.from, to: at(event) })}
      onPointerUp={() => {
        if (drag && Math.abs(drag.to - drag.from) >= dragMin) zoom.select(drag.from / inner, drag.to / inner);
        setDrag(null);
      }}
      onPointerCancel={() => setDrag(null)}
      onDoubleClick={zoom.fit}
    >
      {ticks.map(({ time, left, text }) => (
        <span
          key={time}
          className="tl-tick"
          style={{ transform: `translateX(${left}px)` }}
          title={spokenTime(time)}
        >
          {text}
        </span>
      ))}
      {scale.pieces.map((piece) => {
        const left = leftOf(piece.begin);
        const size = leftOf(piece.end) - left;
        if (!piece.isBreak || left > width || left + size < 0 || size < 36) return null;
        return (
          <span
            key={piece.from}
            className="tl-break-text"
            style={{ transform: `translateX(${left}px)`, width: size }}
            title={`${spokenTime(piece.from)} to ${spokenTime(piece.to)}, cut short`}
          >
            <b>{roundDuration(piece.to - piece.from)}</b>
          </span>
        );
      })}
      {isLive && <span className="tl-now" data-now aria-hidden />}
      <span className="tl-cross" aria-hidden />
      <span className="tl-cross-time" aria-hidden />
      {drag && (
        <span
          className="tl-drag"
          style={{ left: Math.min(drag.from, drag.to), width: Math.abs(drag.to - drag.from) }}
        />
      )}
    </div>
  );
}

/** A wait of an hour is an hour, even if it was noted down a millisecond late. */
function roundDuration(ms: number): string {
  return spokenDuration(ms < 60_000 ? ms : Math.round(ms / 1000) * 1000);
}
