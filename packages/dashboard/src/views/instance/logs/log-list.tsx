/** Lines, newest at the bottom. Stays at the bottom until the reader scrolls up. */
import type { WireLogLine } from "everstep/client";
import { ArrowDown } from "lucide-react";
import { useLayoutEffect, useMemo, useRef, useState } from "react";
import { counted } from "../../../words/numbers.ts";
import type { Live } from "../live.ts";
import { LogLine } from "./log-line.tsx";
import { newest } from "./log-lines.ts";
import type { LogState } from "./use-log-lines.ts";

/** More than this are drawn when somebody asks for them. */
const drawnAtFirst = 500;
const nearPx = 24;

export function LogList({
  live,
  lines,
  log,
  run,
}: {
  readonly live: Live;
  readonly lines: readonly WireLogLine[];
  readonly log: LogState;
  readonly run: number | null;
}) {
  const box = useRef<HTMLDivElement>(null);
  const [isAtEnd, setAtEnd] = useState(true);
  const [drawn, setDrawn] = useState(drawnAtFirst);
  const { shown, left } = newest(lines, drawn);
  const firstId = shown[0]?.id;
  const height = useRef({ firstId, scrollHeight: 0 });
  const { steps } = live.value;
  const indexes = useMemo(
    () => (run === null ? new Map(steps.map(({ stepKey, index }) => [stepKey, index])) : new Map()),
    [steps, run],
  );

  // biome-ignore lint/correctness/useExhaustiveDependencies: whenever other lines are shown
  useLayoutEffect(() => {
    const element = box.current;
    if (!element) return;
    if (isAtEnd) element.scrollTop = element.scrollHeight;
    // What came above must not move what is read.
    else if (height.current.firstId !== firstId)
      element.scrollTop += element.scrollHeight - height.current.scrollHeight;
    height.current = { firstId, scrollHeight: element.scrollHeight };
  }, [lines, drawn]);

  const onScroll = (): void => {
    const element = box.current;
    if (!element) return;
    setAtEnd(element.scrollHeight - element.scrollTop - element.clientHeight < nearPx);
  };
  const more = (): void => {
    setAtEnd(false);
    setDrawn(drawn + drawnAtFirst);
    if (left === 0) log.earlier();
  };
  return (
    <div className="log-frame">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard */}
      <div className="log" ref={box} onScroll={onScroll} role="log" aria-label="Log lines" tabIndex={0}>
        {(left > 0 || log.hasEarlier) && (
          <button type="button" className="tiny earlier" onClick={more} disabled={log.isLoadingEarlier}>
            {left > 0 ? counted(left, "earlier line") : "Earlier lines"}
          </button>
        )}
        {log.isCut && left === 0 && (
          <p className="small dim earlier">Earlier lines were let go. Load the page again to see them.</p>
        )}
        {shown.map((line, at) => (
          <LogLine
            key={line.id}
            line={line}
            stepIndex={line.stepKey === null ? undefined : indexes.get(line.stepKey)}
            beginsRun={at > 0 && shown[at - 1]?.runNumber !== line.runNumber}
          />
        ))}
      </div>
      {!isAtEnd && (
        <button type="button" className="tiny to-end" onClick={() => setAtEnd(true)}>
          <ArrowDown aria-hidden />
          Newest
        </button>
      )}
      <ToEnd isAtEnd={isAtEnd} box={box} />
    </div>
  );
}

function ToEnd({
  isAtEnd,
  box,
}: {
  readonly isAtEnd: boolean;
  readonly box: { readonly current: HTMLDivElement | null };
}) {
  useLayoutEffect(() => {
    if (isAtEnd && box.current) box.current.scrollTop = box.current.scrollHeight;
  }, [isAtEnd, box]);
  return null;
}
