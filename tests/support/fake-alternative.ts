/** A library for comparisons that needs nothing: it keeps everything in memory, sleeps, and knows no events. */
import { type Alternative, type Open, stepCount } from "../../bench/compare/alternative.ts";

export const alternative: Alternative = {
  name: "fake",
  title: "Fake",
  stores: ["sqlite"],
  packages: {},
  notes: ["It keeps nothing."],
};

export const open: Open = async ({ observer }) => {
  const results = new Map<string, Promise<void>>();
  const five = async (id: string): Promise<void> => {
    for (let n = 0; n < stepCount; n++) await Promise.resolve({ n, ok: true });
    observer.ended(id);
  };
  return {
    settings: "all in memory",
    startsAtOnce: 8,
    startFive: async (id) => void results.set(id, five(id)),
    result: async (id) => results.get(id),
    events: null,
    sleeps: {
      async start(id, ms) {
        observer.asleep(id);
        setTimeout(() => observer.awake(id), ms);
      },
    },
    close: async () => {},
  };
};
