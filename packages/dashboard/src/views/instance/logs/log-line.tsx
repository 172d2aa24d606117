import type { WireLogLine } from "everstep/client";
import { ChevronDown, ChevronRight } from "lucide-react";
import { memo, useState } from "react";
import { Link } from "wouter";
import { JsonTree } from "../../../parts/json-tree.tsx";
import { useQuery } from "../../../use-query.ts";
import { spokenDayTime, spokenTime, timeOf } from "../../../words/time.ts";

export const LogLine = memo(function LogLine({
  line,
  stepIndex,
  beginsRun,
}: {
  readonly line: WireLogLine;
  readonly stepIndex: number | undefined;
  readonly beginsRun: boolean;
}) {
  const [isOpen, setOpen] = useState(false);
  const at = timeOf(line.createdAt);
  const hasData = line.data !== null && line.data !== undefined;
  return (
    <>
      {beginsRun && <p className="run-begins small">Run {line.runNumber}</p>}
      <div className={`log-line level-${line.level}${line.isReplay ? " is-replay" : ""}`}>
        <time dateTime={line.createdAt} title={spokenTime(at)}>
          {spokenDayTime(at)}
        </time>
        <span className="level">{line.level}</span>
        <span className="text">
          {hasData && (
            <button
              type="button"
              className="json-fold"
              aria-expanded={isOpen}
              aria-label={isOpen ? "Close the data" : "Open the data"}
              onClick={() => setOpen(!isOpen)}
            >
              {isOpen ? <ChevronDown aria-hidden /> : <ChevronRight aria-hidden />}
            </button>
          )}
          <span className="message">{line.message}</span>
          {line.isReplay && <span className="dim"> replay</span>}
        </span>
        <span className="from">
          <span className="category">{line.category}</span>
          {line.stepKey !== null && <StepOf stepKey={line.stepKey} index={stepIndex} />}
        </span>
        {isOpen && (
          <div className="data">
            <JsonTree value={line.data} what="the data" />
          </div>
        )}
      </div>
    </>
  );
});

function StepOf({ stepKey, index }: { readonly stepKey: string; readonly index: number | undefined }) {
  const query = useQuery();
  if (index === undefined) return <span className="dim"> {stepKey}</span>;
  const place = { tab: null, step: index, level: null, category: null, replay: null, follow: null };
  return <Link href={query.href(place)}>{stepKey}</Link>;
}
