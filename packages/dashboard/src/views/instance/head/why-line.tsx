import { CircleHelp } from "lucide-react";
import { Bone } from "../../../parts/skeleton.tsx";
import type { Live } from "../live.ts";

/** One sentence, and what to do about it. */
export function WhyLine({ live }: { readonly live: Live }) {
  const { why, isOld, problem } = live.why;
  return (
    <div className={isOld ? "why is-old" : "why"} aria-busy={isOld}>
      <CircleHelp aria-hidden />
      {live.isStale ? (
        <p className="dim">The server is out of reach; what is below may be old.</p>
      ) : why ? (
        <div>
          <p>
            {why.answer} {why.advice && <span className="dim">{why.advice}</span>}
          </p>
          <Warnings all={why.warnings ?? []} />
        </div>
      ) : problem && !isOld ? (
        <p className="dim">Why it is like this could not be asked: {problem.message}</p>
      ) : (
        <Bone width="60%" height={20} />
      )}
    </div>
  );
}

/** What the engine itself has logged of the run. */
function Warnings({ all }: { readonly all: readonly string[] }) {
  if (all.length === 0) return null;
  return (
    <ul className="why-warnings">
      {[...new Set(all)].map((text) => (
        <li key={text}>{text}</li>
      ))}
    </ul>
  );
}
