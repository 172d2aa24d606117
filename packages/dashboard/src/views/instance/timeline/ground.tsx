/** What lies behind the rows: time in which no step ran or waited, the breaks, and now. */
import type { Frame } from "./drawing.ts";
import type { Phase, PhaseKind } from "./phases.ts";
import type { Scale } from "./scale.ts";

const shown: ReadonlySet<PhaseKind> = new Set([
  "scheduled",
  "queued",
  "between",
  "paused",
  "lost",
  "earlier",
]);
const widthMin = 2;

export function Ground({
  phases,
  scale,
  frame,
  isLive,
}: {
  readonly phases: readonly Phase[];
  readonly scale: Scale;
  readonly frame: Frame;
  readonly isLive: boolean;
}) {
  const { width, xOf, leftOf } = frame;
  const end = phases.at(-1)?.to;
  return (
    <div className="tl-ground" aria-hidden>
      {phases.map(({ kind, from, to }) => {
        const left = Math.max(0, xOf(from));
        const size = Math.min(width, xOf(to)) - left;
        if (!shown.has(kind) || size < widthMin) return null;
        const isGrowing = isLive && to === end;
        return (
          <span
            key={from}
            className={`tl-lane is-${kind}`}
            {...(isGrowing ? { "data-live": left } : {})}
            style={isGrowing ? { left } : { left, width: size }}
          />
        );
      })}
      {scale.pieces.map((piece) => {
        const left = leftOf(piece.begin);
        const size = leftOf(piece.end) - left;
        if (!piece.isBreak || left > width || left + size < 0) return null;
        return <span key={piece.from} className="tl-break" style={{ left, width: size }} />;
      })}
      {isLive && <span className="tl-now" data-now />}
      <span className="tl-cross" />
    </div>
  );
}
