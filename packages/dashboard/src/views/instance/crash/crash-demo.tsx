/** Kills the process that runs this, to see that nothing is lost. Offered only by processes for trying things out. */
import type { InstanceWithSteps } from "everstep/client";
import { Skull } from "lucide-react";
import { useEffect, useState } from "react";
import { serverNow } from "../../../api/server-clock.ts";
import { useSession } from "../../../api/session.tsx";
import { useAct } from "../../../api/use-act.ts";
import { Notice, ProblemNotice } from "../../../parts/notice.tsx";
import { isEnded } from "../../../words/statuses.ts";
import type { Live } from "../live.ts";
import { demoOf, survivalOf, survivalText } from "./survival.ts";

/** What there was last before the process was gone, and whether its end was noticed. */
interface Killed {
  readonly before: InstanceWithSteps;
  readonly hasDropped: boolean;
}

export function CrashDemo({ live }: { readonly live: Live }) {
  return live.mayKill ? (
    <div className="crash stack close">
      <Demo live={live} />
    </div>
  ) : null;
}

function Demo({ live }: { readonly live: Live }) {
  const { client } = useSession();
  const { value, isStale } = live;
  const [killed, setKilled] = useState<Killed | null>(null);
  const act = useAct(async (before: InstanceWithSteps) => {
    // First, so that its end is not missed.
    setKilled({ before, hasDropped: false });
    await client.kill().catch((problem: unknown) => {
      setKilled(null);
      throw problem;
    });
  });
  // Until its end is noticed it may still complete steps: those count too.
  useEffect(() => {
    setKilled((last) => {
      if (!last || last.hasDropped) return last;
      return isStale ? { ...last, hasDropped: true } : { ...last, before: value };
    });
  }, [isStale, value]);

  const isBack = killed?.hasDropped === true && !isStale;
  if (killed && !isBack) {
    return <Notice tone="warn">The process was killed. Waiting for the next one …</Notice>;
  }
  const button = (
    <button
      type="button"
      className="danger tiny"
      disabled={act.isBusy || isStale}
      onClick={() => void act.run(value)}
    >
      <Skull aria-hidden />
      {act.isBusy ? "Killing …" : "Kill the process now"}
    </button>
  );
  const hasEnded = isEnded(value.details.status);
  // What a person restarted meanwhile says nothing about the crash.
  if (killed && killed.before.meta.runNumber === value.meta.runNumber) {
    const survival = survivalOf(killed.before, value);
    const isWhole = survival.kept === survival.completed;
    return (
      <Notice tone={isWhole ? "good" : "bad"} action={hasEnded ? null : button}>
        {survivalText(survival, hasEnded)}
      </Notice>
    );
  }
  const offer = demoOf(value, serverNow());
  if (offer === null) return null;
  return (
    <>
      <Notice action={button}>{offer}</Notice>
      {act.problem && <ProblemNotice problem={act.problem} />}
    </>
  );
}
