import { useEffect } from "react";

/** The title of the browser's tab while this is looked at. */
export function useTitle(title: string): void {
  useEffect(() => {
    const before = document.title;
    return () => {
      document.title = before;
    };
  }, []);
  useEffect(() => {
    document.title = `${title} · everstep`;
  }, [title]);
}
