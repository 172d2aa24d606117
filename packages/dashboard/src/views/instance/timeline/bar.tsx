import { Zap } from "lucide-react";
import { counted } from "../../../words/numbers.ts";
import { blocksOf, type Frame } from "./drawing.ts";
import type { Row } from "./rows.ts";

/** A mark stands before the bar that begins there: what is short would be hidden under it. */
const markRoom = 17;

export function Bar({ row, frame, now }: { readonly row: Row; readonly frame: Frame; readonly now: number }) {
  if (frame.width === 0) return <span className="tl-line" aria-hidden />;
  const blocks = blocksOf(row, frame, now);
  return (
    <span className="tl-line" aria-hidden>
      {blocks.map(({ kind, outcome, left, width, isLive }, n) => (
        <span
          // biome-ignore lint/suspicious/noArrayIndexKey: they are told in order, and have no state
          key={n}
          className={`tl-block k-${kind} o-${outcome}`}
          {...(isLive ? { "data-live": left } : {})}
          style={isLive ? { left } : { left, width }}
        />
      ))}
      {frame.cuts
        .filter((x) => blocks.some(({ left, width }) => left < x - 4 && left + width > x + 4))
        .map((x) => (
          <span key={x} className="tl-snip" style={{ left: x }} />
        ))}
      {blocks
        .filter(({ cutOff }) => cutOff > 0)
        .map(({ cutOff, left }) => (
          <span
            key={left}
            className="tl-cut"
            style={{ left: Math.max(0, left - markRoom) }}
            title={`${counted(cutOff, "start")} before this cut off by a crash`}
          >
            <Zap />
          </span>
        ))}
    </span>
  );
}
