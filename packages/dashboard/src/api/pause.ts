import { changeCount, onChange } from "./changes.ts";

/**
 * Over after this time; early when something was done here after `since`, the count of changes when what is now known was
 * asked for, or when nobody waits any more.
 */
export function pause(ms: number, since: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const over = (): void => {
      clearTimeout(timer);
      signal.removeEventListener("abort", over);
      unhear();
      resolve();
    };
    const timer = setTimeout(over, ms);
    const unhear = onChange(over);
    signal.addEventListener("abort", over);
    if (signal.aborted || changeCount() !== since) over();
  });
}
