/** The part that is seen: kept in the address as times, so that it can be shared and stays while the instance goes on. */
import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import { useQuery } from "../../../use-query.ts";
import type { Scale } from "./scale.ts";
import { isWhole, type ViewRange, wholeRange } from "./view-range.ts";

export interface View {
  readonly range: ViewRange;
  readonly isZoomed: boolean;
  set(range: ViewRange): void;
}

interface Times {
  readonly from: number;
  readonly to: number;
}

/** An address may not be changed as often as a wheel turns. */
const writeMs = 200;

export function useView(scale: Scale): View {
  const query = useQuery();
  const from = query.get("from");
  const to = query.get("to");
  const [times, setTimes] = useState<Times | null>(() => timesOf(from, to));
  const written = useRef(`${from} ${to}`);
  const latest = useRef(query);
  latest.current = query;

  // Somebody else changed the address: a link, or the Back button.
  useEffect(() => {
    if (`${from} ${to}` === written.current) return;
    written.current = `${from} ${to}`;
    setTimes(timesOf(from, to));
  }, [from, to]);

  useEffect(() => {
    const timer = setTimeout(() => {
      const next = times === null ? null : { from: String(times.from), to: String(times.to) };
      const text = `${next?.from ?? null} ${next?.to ?? null}`;
      if (text === written.current) return;
      written.current = text;
      latest.current.set({ from: next?.from, to: next?.to });
    }, writeMs);
    return () => clearTimeout(timer);
  }, [times]);

  const set = useCallback(
    (range: ViewRange): void => {
      if (isWhole(range)) return setTimes(null);
      // To the microsecond: enough for the closest look, and short enough for an address.
      const rounded = (place: number): number => Math.round(scale.timeAt(place) * 1000) / 1000;
      setTimes({ from: rounded(range.begin), to: rounded(range.end) });
    },
    [scale],
  );
  const range = useMemo(() => (times === null ? wholeRange : rangeOf(times, scale)), [times, scale]);
  return { range, isZoomed: !isWhole(range), set };
}

function timesOf(from: string | null, to: string | null): Times | null {
  if (!from || !to) return null;
  const times = { from: Number(from), to: Number(to) };
  return Number.isFinite(times.from) && Number.isFinite(times.to) && times.to > times.from ? times : null;
}

/** Of another run perhaps: then there is nothing to see in it, and all is shown. */
function rangeOf({ from, to }: Times, scale: Scale): ViewRange {
  const begin = Math.max(0, scale.placeOf(from));
  const end = Math.min(1, scale.placeOf(to));
  return end > begin ? { begin, end } : wholeRange;
}
