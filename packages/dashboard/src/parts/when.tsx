import { spokenAgo, spokenExact, spokenTime, timeOf } from "../words/time.ts";
import { useNow } from "./use-now.ts";

/** How long ago and when; on hover to the millisecond and with the time zone. */
export function When({
  at,
  isShort = false,
}: {
  readonly at: string | null | undefined;
  /** Only how long ago: where an exact time stands beside it, or there is no room. */
  readonly isShort?: boolean;
}) {
  const now = useNow();
  if (!at) return <span className="dim">–</span>;
  const time = timeOf(at);
  return (
    <time dateTime={at} title={spokenTime(time)} className="when">
      {spokenAgo(time, now)}
      {!isShort && <span className="exact"> {spokenExact(time, now)}</span>}
    </time>
  );
}
