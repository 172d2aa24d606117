import { spokenAgo, spokenTime, timeOf } from "../words/time.ts";
import { useNow } from "./use-now.ts";

/** How long ago, and on hover exactly when and in which time zone. */
export function When({ at }: { readonly at: string | null | undefined }) {
  const now = useNow();
  if (!at) return <span className="dim">–</span>;
  const time = timeOf(at);
  return (
    <time dateTime={at} title={spokenTime(time)} className="when">
      {spokenAgo(time, now)}
    </time>
  );
}
