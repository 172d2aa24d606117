/** Whether somebody looks at this page. Who does not look needs no answers, and keeps no connection. */

/** Resolves when somebody looks, or when nobody waits for that any more. */
export function whenSeen(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const look = (): void => {
      if (document.visibilityState !== "visible" && !signal.aborted) return;
      document.removeEventListener("visibilitychange", look);
      signal.removeEventListener("abort", look);
      resolve();
    };
    document.addEventListener("visibilitychange", look);
    signal.addEventListener("abort", look);
    look();
  });
}

/** Aborted as soon as nobody looks any more. */
export function whileSeen(signal: AbortSignal): AbortSignal {
  const unseen = new AbortController();
  const look = (): void => {
    if (document.visibilityState === "visible" && !signal.aborted) return;
    document.removeEventListener("visibilitychange", look);
    signal.removeEventListener("abort", look);
    unseen.abort();
  };
  document.addEventListener("visibilitychange", look);
  signal.addEventListener("abort", look);
  look();
  return unseen.signal;
}
