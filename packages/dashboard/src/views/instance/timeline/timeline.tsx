/** One run to scale: what worked, what waited, what was tried again, and where the time went. */
import "../../../look/timeline.css";
import "../../../look/timeline-around.css";
import "../../../look/timeline-bars.css";
import type { InstanceStatus, WireMeta, WireRunningBody, WireStep } from "everstep/client";
import { type CSSProperties, useMemo, useRef, useState } from "react";
import { tickNow, useNow } from "../../../parts/use-now.ts";
import { useQuery } from "../../../use-query.ts";
import { Axis } from "./axis.tsx";
import { useCard } from "./card.tsx";
import { frameOf } from "./drawing.ts";
import { Ground } from "./ground.tsx";
import { Legend } from "./legend.tsx";
import { wantedNameRoom } from "./name-room.ts";
import { withoutOverhead } from "./overhead.ts";
import { Overview } from "./overview.tsx";
import { phasesOf, timesOf } from "./phases.ts";
import { RowList } from "./row-list.tsx";
import { chosenRows, runRowsOf } from "./rows.ts";
import { keepScaleChoice, readScaleChoice } from "./scale-choice.ts";
import { Summary } from "./summary.tsx";
import { Toolbar } from "./toolbar.tsx";
import { useChoice } from "./use-choice.ts";
import { useCrosshair } from "./use-crosshair.ts";
import { useLiveEdge } from "./use-live-edge.ts";
import { useScale } from "./use-scale.ts";
import { useView } from "./use-view.ts";
import { useWidth } from "./use-width.ts";
import { useZoom } from "./use-zoom.ts";

export interface TimelineProps {
  readonly steps: readonly WireStep[];
  readonly running: readonly WireRunningBody[];
  readonly meta: WireMeta;
  readonly status: InstanceStatus;
  /** Since then nothing was heard of it: what grows stands still where it was. */
  readonly stillAt: number | null;
  /** A step by its index. */
  readonly selected: number | null;
  readonly onSelect: (index: number | null) => void;
  readonly href: (index: number) => string;
}

export function Timeline(props: TimelineProps) {
  const { steps, running, meta, status, stillAt, selected, onSelect, href } = props;
  const query = useQuery();
  const run = useMemo(() => runRowsOf({ steps, running, meta, status }), [steps, running, meta, status]);
  const isLive = run.endedAt === null;
  const isStill = stillAt !== null;
  const clock = useNow(isLive && !isStill);
  const now = Math.max(isLive ? (stillAt ?? clock) : 0, run.newest);

  const { scale, edge, isCompressed, canCompress } = useScale(run, now, readScaleChoice(query.get("scale")));
  const view = useView(scale);
  const track = useRef<HTMLDivElement>(null);
  const root = useRef<HTMLDivElement>(null);
  const width = useWidth(track);
  const frame = useMemo(() => frameOf(scale, view.range, width), [scale, view.range, width]);
  useLiveEdge(root, { isLive, stillAt, frame, newest: run.newest, edge, onBeyond: tickNow });

  const { choice, fold, setChoice } = useChoice(run.rows);
  const rows = useMemo(() => chosenRows(run.rows, choice), [run.rows, choice]);
  const all = useMemo(() => phasesOf(run, status, now), [run, status, now]);
  const times = useMemo(() => timesOf(all), [all]);
  const phases = useMemo(() => withoutOverhead(all, times), [all, times]);
  const nameRoom = useMemo(() => wantedNameRoom(run.rows), [run.rows]);
  const [isExplained, setExplained] = useState(false);
  const zoom = useZoom({ view, scale, track });
  useCrosshair(root, track, run.origin, frame);
  const card = useCard(run.rows, now);

  return (
    <section
      className={isStill ? "timeline is-still" : "timeline"}
      ref={root}
      style={{ "--names-wanted": `${nameRoom}px` } as CSSProperties}
      aria-label="Timeline"
      onKeyDown={zoom.onKeyDown}
    >
      <Summary times={times} isLive={isLive} status={status} />
      <Toolbar
        choice={choice}
        onChoice={setChoice}
        isCompressed={isCompressed}
        canCompress={canCompress}
        onCompress={(next) => {
          const choice = next ? "compressed" : "full";
          keepScaleChoice(choice);
          query.set({ scale: choice, from: null, to: null });
        }}
        isExplained={isExplained}
        onExplain={() => setExplained(!isExplained)}
        zoom={zoom}
        isZoomed={view.isZoomed}
      />
      {isExplained && (
        <Legend
          rows={run.rows}
          phases={phases}
          now={now}
          hasBreaks={isCompressed && scale.pieces.length > 1}
        />
      )}
      <div className="tl-chart">
        <div className="tl-head">
          <div className="tl-names-head small dim">
            {rows.length === run.rows.length
              ? `${rows.length} ${rows.length === 1 ? "step" : "steps"}`
              : `${rows.length} of ${run.rows.length} steps`}
          </div>
          <div className="tl-track" ref={track}>
            <Overview phases={phases} scale={scale} view={view} isLive={isLive} />
            <Axis scale={scale} frame={frame} origin={run.origin} zoom={zoom} isLive={isLive} />
          </div>
        </div>
        <div className="tl-body">
          <Ground phases={phases} scale={scale} frame={frame} isLive={isLive} />
          <RowList
            rows={rows}
            frame={frame}
            now={now}
            selected={selected}
            onSelect={onSelect}
            href={href}
            folded={choice.folded}
            onFold={fold}
            onHover={card.show}
            isFiltered={rows.length < run.rows.length}
            isStarted={run.startedAt !== null}
          />
        </div>
      </div>
      {card.element}
    </section>
  );
}
