/** Moves what is live to where it is now: without drawing anything else again, and no more often than can be seen. */
import { type RefObject, useEffect, useLayoutEffect, useRef } from "react";
import { serverNow } from "../../../api/server-clock.ts";
import { type Frame, widthMin } from "./drawing.ts";

export interface LiveEdgeTerms {
  readonly isLive: boolean;
  /** It stays where it was then. */
  readonly stillAt: number | null;
  readonly frame: Frame;
  /** It cannot be earlier than this. */
  readonly newest: number;
  /** Beyond this, all has to be drawn anew. */
  readonly edge: number;
  readonly onBeyond: () => void;
}

const frameMs = 1000 / 30;
const slowMs = 1000;

export function useLiveEdge(root: RefObject<HTMLElement | null>, terms: LiveEdgeTerms): void {
  const latest = useRef(terms);
  latest.current = terms;
  const isBeyondTold = useRef(0);

  const draw = useRef((): void => {
    const { frame, newest, edge, isLive, stillAt, onBeyond } = latest.current;
    if (!isLive || !root.current || frame.width === 0) return;
    const now = Math.max(stillAt ?? serverNow(), newest);
    if (now >= edge && isBeyondTold.current !== edge) {
      isBeyondTold.current = edge;
      onBeyond();
    }
    place(root.current, Math.max(-40, Math.min(frame.xOf(now), frame.width + 40)));
  });

  // What was just drawn anew is of the last second.
  useLayoutEffect(() => draw.current());
  const isMoving = terms.isLive && terms.stillAt === null;
  useEffect(() => {
    if (!isMoving) return;
    let timer: ReturnType<typeof setTimeout> | undefined;
    let asked = 0;
    const onFrame = (): void => {
      // For those who want nothing to move, what is drawn anew every second is enough.
      if (!wantsStillness()) draw.current();
      timer = setTimeout(next, pauseMs(latest.current.frame, latest.current.newest));
    };
    const next = (): void => {
      if (document.visibilityState === "visible") asked = requestAnimationFrame(onFrame);
      else document.addEventListener("visibilitychange", next, { once: true });
    };
    next();
    return () => {
      clearTimeout(timer);
      cancelAnimationFrame(asked);
      document.removeEventListener("visibilitychange", next);
    };
  }, [isMoving]);
}

function wantsStillness(): boolean {
  return matchMedia("(prefers-reduced-motion: reduce)").matches;
}

/** Half a pixel from now, and at least a thirtieth of a second. */
function pauseMs(frame: Frame, newest: number): number {
  if (wantsStillness()) return slowMs;
  const now = Math.max(serverNow(), newest);
  const perSecond = frame.xOf(now + 1000) - frame.xOf(now);
  // The frame that is waited for takes a part of it.
  return Math.min(slowMs, Math.max(frameMs, 500 / Math.max(perSecond, 0.001))) - 4;
}

function place(root: HTMLElement, x: number): void {
  for (const element of root.querySelectorAll<HTMLElement>("[data-live]")) {
    const left = Number(element.dataset.live);
    element.style.width = `${Math.max(widthMin, x - left)}px`;
  }
  for (const element of root.querySelectorAll<HTMLElement>("[data-now]")) {
    element.style.transform = `translateX(${x}px)`;
  }
}
