import { type KeyboardEvent, useState } from "react";
import { spokenDayTime, spokenTime } from "../../words/time.ts";
import { type ChartData, sumOf } from "./chart.ts";

export interface Series {
  readonly name: string;
  /** Class that brings the colour. */
  readonly look: string;
}

/** Bars over time. What a bar says is read by pointing at it, or with the arrow keys. */
export function BarChart({
  title,
  summary,
  data: { bars, top },
  series,
  spoken,
}: {
  readonly title: string;
  /** The whole in a few words. */
  readonly summary: string;
  readonly data: ChartData;
  readonly series: readonly Series[];
  readonly spoken: (value: number) => string;
}) {
  const [at, setAt] = useState<number | null>(null);
  const shown = at === null ? undefined : bars[at];
  const readout = shown
    ? `${spokenDayTime(shown.at).slice(0, 5)}–${spokenDayTime(shown.until).slice(0, 5)}: ${series
        .map(({ name }, n) => `${spoken(shown.parts[n] ?? 0)} ${name}`)
        .join(", ")}`
    : summary;
  const onKeyDown = (event: KeyboardEvent): void => {
    const move = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (event.key === "Escape") setAt(null);
    if (move === undefined) return;
    event.preventDefault();
    setAt(Math.min(bars.length - 1, Math.max(0, (at ?? bars.length) + move)));
  };
  return (
    <figure className="chart">
      <figcaption>
        <h3>{title}</h3>
        <p className="small chart-readout" aria-live="polite" title={shown && spokenTime(shown.at)}>
          {readout}
        </p>
      </figcaption>
      {/* biome-ignore lint/a11y/useSemanticElements: there is no element for a chart */}
      <div
        className="chart-plot"
        role="group"
        aria-label={`${title}: ${summary}. Left and right go through the bars.`}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: its bars are read with the arrow keys
        tabIndex={0}
        onKeyDown={onKeyDown}
        onBlur={() => setAt(null)}
        onPointerLeave={() => setAt(null)}
      >
        <span className="chart-top small dim">{spoken(top)}</span>
        <div className="chart-bars">
          {bars.map((bar, n) => (
            <div
              key={bar.at}
              className={n === at ? "chart-bar is-at" : "chart-bar"}
              onPointerEnter={() => setAt(n)}
              data-value={sumOf(bar.parts)}
            >
              {bar.parts.map((part, which) => (
                <div
                  key={series[which]?.name}
                  className={series[which]?.look}
                  style={{ height: `${Math.min(100, (part / top) * 100)}%` }}
                />
              ))}
            </div>
          ))}
        </div>
      </div>
      <div className="chart-ends small dim">
        {bars[0] && <span title={spokenTime(bars[0].at)}>{spokenDayTime(bars[0].at).slice(0, 5)}</span>}
        <span className="chart-series">
          {series.map(({ name, look }) => (
            <span key={name}>
              <i className={look} aria-hidden /> {name}
            </span>
          ))}
        </span>
        <span>now</span>
      </div>
    </figure>
  );
}
