/** Who comes back with the Back button finds the list as they left it: loaded as far, and at the same place. */
import { useEffect, useRef, useState } from "react";
import type { Listing } from "./listing.ts";

interface Place {
  readonly name: string;
  readonly listing: Listing;
  readonly scrollY: number;
}

let left: Place | null = null;
let wentBackAt = Number.NEGATIVE_INFINITY;
const justNowMs = 1000;

window.addEventListener("popstate", () => {
  wentBackAt = performance.now();
});

export function useKeptPlace(name: string): {
  readonly listing: Listing | undefined;
  keep(listing: Listing | undefined): void;
} {
  const [place] = useState(() => {
    const isBack = performance.now() - wentBackAt < justNowMs;
    return isBack && left?.name === name ? left : null;
  });
  const latest = useRef<Listing | undefined>(undefined);
  const scrollY = useRef(0);
  useEffect(() => {
    // After the view has come up at its top, as every view does.
    const frame = place && requestAnimationFrame(() => window.scrollTo(0, place.scrollY));
    const path = location.pathname;
    const onScroll = (): void => {
      // The next view may scroll already while this one still waits to be taken away.
      if (location.pathname === path) scrollY.current = window.scrollY;
    };
    window.addEventListener("scroll", onScroll, { passive: true });
    return () => {
      if (frame !== null) cancelAnimationFrame(frame);
      window.removeEventListener("scroll", onScroll);
      if (latest.current) left = { name, listing: latest.current, scrollY: scrollY.current };
    };
  }, [name, place]);
  return {
    listing: place?.listing,
    keep: (listing) => {
      latest.current = listing;
    },
  };
}
