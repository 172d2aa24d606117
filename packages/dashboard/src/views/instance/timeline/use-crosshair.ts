/** The exact time under the pointer, without drawing anything else again. */
import { type RefObject, useEffect, useRef } from "react";
import { spokenDuration, spokenTime } from "../../../words/time.ts";
import type { Frame } from "./drawing.ts";

export function useCrosshair(
  root: RefObject<HTMLElement | null>,
  track: RefObject<HTMLElement | null>,
  origin: number,
  frame: Frame,
): void {
  const latest = useRef({ origin, frame });
  latest.current = { origin, frame };
  useEffect(() => {
    const chart = root.current?.querySelector<HTMLElement>(".tl-chart");
    if (!chart) return;
    const onMove = (event: PointerEvent): void => {
      const { left = 0, width = 0 } = track.current?.getBoundingClientRect() ?? {};
      const x = event.clientX - left;
      const isOver = event.pointerType !== "touch" && x >= 0 && x <= width;
      chart.classList.toggle("has-cross", isOver);
      if (!isOver) return;
      for (const line of chart.querySelectorAll<HTMLElement>(".tl-cross")) {
        line.style.transform = `translateX(${x}px)`;
      }
      const text = chart.querySelector<HTMLElement>(".tl-cross-time");
      if (!text) return;
      const time = latest.current.frame.timeAt(x);
      text.textContent = `+${spokenDuration(time - latest.current.origin)} · ${spokenTime(time)}`;
      text.style.transform = `translateX(${Math.max(0, Math.min(x - text.offsetWidth / 2, width - text.offsetWidth))}px)`;
    };
    const onLeave = (): void => chart.classList.remove("has-cross");
    chart.addEventListener("pointermove", onMove);
    chart.addEventListener("pointerleave", onLeave);
    return () => {
      chart.removeEventListener("pointermove", onMove);
      chart.removeEventListener("pointerleave", onLeave);
    };
  }, [root, track]);
}
