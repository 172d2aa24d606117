/** What the rows on the screen wait for. Lists do not tell, so each that waits is asked once for every wait it comes to. */
import type { Client } from "everstep/client";
import { useEffect, useRef, useState } from "react";
import { useSession } from "../../api/session.tsx";
import type { Row } from "./row.ts";
import type { Wait } from "./wait.ts";

/** Asked at once: the browser has few connections, and the list itself needs them too. */
const atOnce = 2;
/** A screen has fewer rows; who scrolls fast leaves most of them behind unasked. */
const keptMax = 2000;

export function useWaits(shown: readonly Row[]): (row: Row) => Wait | undefined {
  const { client } = useSession();
  const known = useRef(new Map<string, Wait>());
  const wanted = useRef<readonly Row[]>([]);
  const atWork = useRef(0);
  const [, drawAnew] = useState(0);
  wanted.current = shown.filter((row) => isToBeAsked(row) && !known.current.has(nameOf(row)));

  useEffect(() => {
    const leaving = new AbortController();
    const work = async (): Promise<void> => {
      atWork.current++;
      for (let row = wanted.current[0]; row && !leaving.signal.aborted; row = wanted.current[0]) {
        wanted.current = wanted.current.slice(1);
        const wait = await askWait(client, row, leaving.signal);
        if (leaving.signal.aborted) break;
        if (known.current.size >= keptMax) known.current.clear();
        known.current.set(nameOf(row), wait);
        drawAnew((last) => last + 1);
      }
      atWork.current--;
    };
    const look = (): void => {
      while (wanted.current.length > 0 && atWork.current < atOnce) void work();
    };
    look();
    const timer = setInterval(look, 300);
    return () => {
      leaving.abort();
      clearInterval(timer);
    };
  }, [client]);
  return (row) => known.current.get(nameOf(row));
}

async function askWait(
  client: Client,
  { workflowName, instanceId }: Row,
  signal: AbortSignal,
): Promise<Wait> {
  try {
    const { reason, waitsFor } = await client.workflow(workflowName).get(instanceId).why({ signal });
    return waitsFor ? { reason, waitsFor } : { reason };
  } catch {
    // The row is there without it; that the service is away is said by the list.
    return { reason: "unknown" };
  }
}

function isToBeAsked({ status, executing, queued, hasLeft }: Row): boolean {
  return status === "waiting" && !executing && !queued && !hasLeft;
}

/** Another wait has another time at which it is due. */
function nameOf({ key, runNumber, dueAt }: Row): string {
  return `${key} ${runNumber} ${dueAt}`;
}
