/** Whether what is seen is what is. */
export function LiveDot({ isStale }: { readonly isStale: boolean }) {
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
