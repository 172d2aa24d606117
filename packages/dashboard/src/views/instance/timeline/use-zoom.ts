/** Everything a person can do to look closer: buttons, keys, the wheel, and dragging along the axis. */
import { type KeyboardEvent, type RefObject, useEffect, useMemo, useRef } from "react";
import { innerOf } from "./drawing.ts";
import type { Scale } from "./scale.ts";
import type { View } from "./use-view.ts";
import { between, moved, wholeRange, zoomed } from "./view-range.ts";

export interface Zoom {
  closer(): void;
  wider(): void;
  fit(): void;
  /** Above 1 shows more. What is at this share of what is seen stays there. */
  by(factor: number, share: number): void;
  /** By a share of what is seen. */
  move(share: number): void;
  /** From one share of what is seen to another. */
  select(a: number, b: number): void;
  onKeyDown(event: KeyboardEvent): void;
}

export interface ZoomTerms {
  readonly view: View;
  readonly scale: Scale;
  readonly track: RefObject<HTMLElement | null>;
}

/** Less than this is never spread over the whole width. */
const seenMsMin = 4;
const factor = 1.6;

export function useZoom(terms: ZoomTerms): Zoom {
  const latest = useRef(terms);
  latest.current = terms;
  const zoom = useMemo(() => zoomOf(() => latest.current), []);
  const { track } = terms;

  // A listener of React's could not keep the browser from zooming the page.
  useEffect(() => {
    const chart = track.current?.closest(".tl-chart");
    const onWheel = (given: Event): void => {
      const event = given as WheelEvent;
      if (!track.current || !(event.ctrlKey || event.metaKey)) return;
      event.preventDefault();
      const { left, width } = track.current.getBoundingClientRect();
      const share = Math.min(1, Math.max(0, (event.clientX - left) / innerOf(width)));
      zoom.by(Math.exp(Math.max(-60, Math.min(60, event.deltaY)) * 0.005), share);
    };
    chart?.addEventListener("wheel", onWheel, { passive: false });
    return () => chart?.removeEventListener("wheel", onWheel);
  }, [track, zoom]);
  return zoom;
}

function zoomOf(terms: () => ZoomTerms): Zoom {
  const placeAt = (share: number): number => {
    const { begin, end } = terms().view.range;
    return begin + share * (end - begin);
  };
  const sizeMin = (place: number): number => {
    const { scale } = terms();
    return Math.min(1, scale.placeOf(scale.timeAt(place) + seenMsMin) - place);
  };
  const by = (factor: number, share: number): void => {
    const { view } = terms();
    const place = placeAt(share);
    view.set(zoomed(view.range, factor, place, sizeMin(place)));
  };
  const move = (share: number): void => {
    const { view } = terms();
    if (view.isZoomed) view.set(moved(view.range, share));
  };
  const closer = (): void => by(1 / factor, 0.5);
  const wider = (): void => by(factor, 0.5);
  const fit = (): void => terms().view.set(wholeRange);
  const keys: Readonly<Record<string, () => void>> = {
    "+": closer,
    "=": closer,
    "-": wider,
    "0": fit,
    ArrowLeft: () => move(-0.2),
    ArrowRight: () => move(0.2),
  };
  return {
    closer,
    wider,
    fit,
    by,
    move,
    select(a, b) {
      const first = placeAt(Math.min(a, b));
      terms().view.set(between(first, placeAt(Math.max(a, b)), sizeMin(first)));
    },
    onKeyDown(event) {
      if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
      if ((event.target as HTMLElement).matches("input:not([type=checkbox]), textarea")) return;
      const act = Object.hasOwn(keys, event.key) ? keys[event.key] : undefined;
      if (!act) return;
      event.preventDefault();
      act();
    },
  };
}
