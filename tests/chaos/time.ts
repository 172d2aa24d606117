/** Milliseconds of a clock that only goes forward and is the same for all processes of this machine. */
export function monotonic(): number {
  return Number(process.hrtime.bigint() / 1000n) / 1000;
}

export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, Math.max(0, ms));
  });
}

/** Looks until there is something, or the time is up: undefined then. */
export async function lookFor<Found>(
  look: () => Found | undefined | Promise<Found | undefined>,
  { withinMs, everyMs = 20 }: { readonly withinMs: number; readonly everyMs?: number },
): Promise<Found | undefined> {
  const until = monotonic() + withinMs;
  for (;;) {
    const found = await look();
    if (found !== undefined || monotonic() >= until) return found;
    await pause(everyMs);
  }
}
