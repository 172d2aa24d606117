import { useEffect, useRef, useState } from "react";

/** The latest of what changes often, but no more often than this. */
export function usePaced<Value>(value: Value, leastMs: number): Value {
  const [shown, setShown] = useState(value);
  const shownAt = useRef(0);
  useEffect(() => {
    const show = (): void => {
      shownAt.current = Date.now();
      setShown(value);
    };
    const timer = setTimeout(show, Math.max(0, shownAt.current + leastMs - Date.now()));
    return () => clearTimeout(timer);
  }, [value, leastMs]);
  return shown;
}
