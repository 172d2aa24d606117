/** What there is to know of a bar, beside it, and never cut off. */
import { type ReactNode, useCallback, useEffect, useLayoutEffect, useRef, useState } from "react";
import { headed, whenOver } from "../../../words/common.ts";
import { spokenDuration, spokenTime } from "../../../words/time.ts";
import { type Anchor, cardPlace } from "./card-place.ts";
import { factsOf, stateWords } from "./facts.ts";
import type { Row } from "./rows.ts";

export interface Hovered {
  readonly key: string;
  readonly anchor: Anchor;
}

export function useCard(
  rows: readonly Row[],
  now: number,
): { readonly element: ReactNode; readonly show: (hovered: Hovered | null) => void } {
  const [hovered, setHovered] = useState<Hovered | null>(null);
  const row = hovered && rows.find(({ key }) => key === hovered.key);
  useEffect(() => {
    if (!hovered) return;
    const onScroll = (): void => setHovered(null);
    window.addEventListener("scroll", onScroll, { passive: true });
    return () => window.removeEventListener("scroll", onScroll);
  }, [hovered]);
  const show = useCallback((next: Hovered | null) => setHovered(next), []);
  return { element: row ? <Card row={row} anchor={hovered.anchor} now={now} /> : null, show };
}

function Card({ row, anchor, now }: { readonly row: Row; readonly anchor: Anchor; readonly now: number }) {
  const ref = useRef<HTMLDivElement>(null);
  const [place, setPlace] = useState<{ readonly left: number; readonly top: number } | null>(null);
  useLayoutEffect(() => {
    const card = ref.current?.getBoundingClientRect();
    if (card)
      setPlace(cardPlace(anchor, card, { width: document.documentElement.clientWidth, height: innerHeight }));
  }, [anchor]);
  const facts = factsOf(row, now);
  return (
    // The row's own label tells the same to those who do not see it.
    <div
      className="tl-card"
      ref={ref}
      role="tooltip"
      style={place ? { left: place.left, top: place.top } : { left: 0, top: 0, visibility: "hidden" }}
    >
      <strong className="mono">{row.name}</strong>
      <div className="small">
        <code>{row.type}</code>, {stateWords[row.state]}
      </div>
      <dl className="facts small">
        {row.type === "do" && <Fact name="Attempts" value={attemptsText(row, facts.attempts)} />}
        {facts.cutOff > 0 && <Fact name="Cut off by a crash" value={String(facts.cutOff)} />}
        <Fact name="Started" value={spokenTime(facts.startedAt)} />
        <Fact name={facts.endedAt === null ? "So far" : "Took"} value={spokenDuration(facts.took)} />
        {facts.retryWaited + facts.erroredFor > 0 && (
          <Fact name="At work" value={spokenDuration(facts.worked)} />
        )}
        {facts.retryWaited > 0 && (
          <Fact name="Waited for retries" value={spokenDuration(facts.retryWaited)} />
        )}
        {facts.erroredFor > 0 && (
          <Fact name="Errored, until it was retried" value={spokenDuration(facts.erroredFor)} />
        )}
        {facts.late > 0 && <Fact name="Waited for a runner" value={spokenDuration(facts.late)} />}
        {row.step?.waitEventType && <Fact name="Event" value={row.step.waitEventType} />}
        {row.step?.topic && <Fact name="Topic" value={row.step.topic} />}
        {facts.due !== null && <Fact name={dueWords[row.type]} value={spokenTime(facts.due)} />}
        {facts.lastError && (
          <Fact name="Last error" value={`${facts.lastError.name}: ${facts.lastError.message}`} isBad />
        )}
      </dl>
    </div>
  );
}

const dueWords: Readonly<Record<Row["type"], string>> = {
  do: headed(whenOver.retry),
  sleep: headed(whenOver.sleep),
  waitForEvent: headed(whenOver.event),
};

function attemptsText({ step }: Row, attempts: number): string {
  const most = step?.maxAttempts ?? null;
  return most === null ? String(attempts) : `${attempts} of at most ${most}`;
}

function Fact({
  name,
  value,
  isBad = false,
}: {
  readonly name: string;
  readonly value: string;
  readonly isBad?: boolean;
}) {
  return (
    <>
      <dt>{name}</dt>
      <dd className={isBad ? "tl-card-error" : undefined}>{value}</dd>
    </>
  );
}
