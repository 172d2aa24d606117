/** How late this process is with what is due: a machine that is busy elsewhere shows in every timer. */
const beatMs = 20;

export interface LatenessWatch {
  /** The most that a beat was late since the watch began. Ends the watch. */
  worstMs(): number;
}

export function watchLateness(): LatenessWatch {
  let last = performance.now();
  let worst = 0;
  const beat = (): void => {
    const now = performance.now();
    worst = Math.max(worst, now - last - beatMs);
    last = now;
  };
  const timer = setInterval(beat, beatMs);
  return {
    worstMs() {
      beat();
      clearInterval(timer);
      return worst;
    },
  };
}
