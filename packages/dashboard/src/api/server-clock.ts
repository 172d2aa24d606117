/** What time it is for the engine. The reader's clock may be wrong, and every time on the page is the engine's. */

let offsetMs = 0;

/** Less than this is the way of an answer, not a wrong clock. */
const leastMs = 500;

export function serverNow(): number {
  return Date.now() + offsetMs;
}

/** The server said so in answer to what was asked `askedAt`, by the reader's clock. */
export function hearTime(now: string | undefined, askedAt: number): void {
  const told = Date.parse(now ?? "");
  if (Number.isNaN(told)) return;
  const distance = told - (askedAt + Date.now()) / 2;
  offsetMs = Math.abs(distance) < leastMs ? 0 : Math.round(distance);
}
