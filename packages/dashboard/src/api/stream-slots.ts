/**
 * A browser opens six HTTP/1.1 connections to an origin, for all of its tabs and for the host's own pages together. An open
 * stream keeps one of them. So all tabs share a few places for streams; who gets none asks from time to time instead.
 */
const places = ["everstep stream 1", "everstep stream 2"] as const;

export interface StreamSlots {
  /** What comes of it when it is done with a place, which is then given back. Null, and nothing done, if all are taken. */
  withSlot<Outcome>(work: () => Promise<Outcome>): Promise<Outcome | null>;
}

/** A lock goes free by itself when its tab is closed or dies. Browsers offer them to pages of https and localhost only. */
export function streamSlots(locks: Pick<LockManager, "request"> | undefined): StreamSlots {
  return {
    async withSlot<Outcome>(work: () => Promise<Outcome>): Promise<Outcome | null> {
      if (!locks) return null;
      for (const place of places) {
        const done = await locks.request(place, { ifAvailable: true }, async (lock) =>
          lock ? { outcome: await work() } : null,
        );
        if (done) return done.outcome;
      }
      return null;
    },
  };
}

/** Of this page. */
export const slots: StreamSlots = streamSlots(globalThis.navigator?.locks);
