/** Which rows of a long list are on the screen, with the page itself as what is scrolled. All rows have one height. */
import { type RefObject, useEffect, useLayoutEffect, useRef, useState } from "react";

export interface ShownRows {
  /** For the element that is as high as all rows together. */
  readonly ref: RefObject<HTMLDivElement | null>;
  readonly first: number;
  /** After the last one. */
  readonly end: number;
}

const around = 12;

export function useWindow(count: number, rowHeight: number): ShownRows {
  const ref = useRef<HTMLDivElement | null>(null);
  const [range, setRange] = useState({ first: 0, end: Math.min(count, 60) });

  const look = useRef(() => {});
  look.current = () => {
    const element = ref.current;
    if (!element) return;
    const { top } = element.getBoundingClientRect();
    const first = Math.max(0, Math.floor(-top / rowHeight) - around);
    const end = Math.min(count, Math.ceil((window.innerHeight - top) / rowHeight) + around);
    setRange((last) =>
      last.first === first && last.end === end ? last : { first, end: Math.max(first, end) },
    );
  };

  // biome-ignore lint/correctness/useExhaustiveDependencies: more rows may come into sight
  useLayoutEffect(() => look.current(), [count, rowHeight]);
  useEffect(() => {
    const onMove = (): void => look.current();
    window.addEventListener("scroll", onMove, { passive: true });
    window.addEventListener("resize", onMove);
    return () => {
      window.removeEventListener("scroll", onMove);
      window.removeEventListener("resize", onMove);
    };
  }, []);
  return { ref, first: Math.min(range.first, count), end: Math.min(range.end, count) };
}
