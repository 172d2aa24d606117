/** Gives dead letters another chance: one or all that are shown, with progress. */
import type { WireInstanceWithMeta } from "everstep/client";
import { useEffect, useRef, useState } from "react";
import { doToAll, type Outcome } from "../../api/all-at-once.ts";
import { useSession } from "../../api/session.tsx";

export interface Redrive {
  readonly total: number;
  readonly outcomes: readonly Outcome<WireInstanceWithMeta>[];
  readonly isBusy: boolean;
}

export function useRedrive(onDone: () => void): {
  readonly redrive: Redrive | null;
  begin(instances: readonly WireInstanceWithMeta[]): void;
  stop(): void;
  clear(): void;
} {
  const { client, refused } = useSession();
  const [redrive, setRedrive] = useState<Redrive | null>(null);
  const leaving = useRef<AbortController | null>(null);
  useEffect(() => () => leaving.current?.abort(), []);

  const begin = async (instances: readonly WireInstanceWithMeta[]): Promise<void> => {
    const stopping = new AbortController();
    leaving.current = stopping;
    setRedrive({ total: instances.length, outcomes: [], isBusy: true });
    await doToAll(
      instances,
      ({ id, meta }) => client.workflow(meta.workflowName).get(id).retryFailedStep(),
      (outcome) => {
        if (outcome.problem) refused(outcome.problem);
        setRedrive((last) => last && { ...last, outcomes: [...last.outcomes, outcome] });
      },
      stopping.signal,
    );
    setRedrive((last) => last && { ...last, isBusy: false });
    onDone();
  };
  return {
    redrive,
    begin: (instances) => void begin(instances),
    stop: () => leaving.current?.abort(),
    clear: () => setRedrive(null),
  };
}
