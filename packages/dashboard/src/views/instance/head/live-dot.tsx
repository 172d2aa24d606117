/** Whether what is seen is what is. Of what has ended nothing is expected any more. */
export function LiveDot({ isStale, hasEnded }: { readonly isStale: boolean; readonly hasEnded: boolean }) {
  if (hasEnded && !isStale) return null;
  return (
    <span
      className={isStale ? "live-dot is-stale" : "live-dot"}
      role="status"
      title={
        isStale
          ? "The connection dropped and is being made again. What is shown may be old."
          : "What is shown changes by itself."
      }
    >
      {isStale ? "reconnecting" : "live"}
    </span>
  );
}
