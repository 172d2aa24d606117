/** One instance as it is now, with what may be done with it. */
import type { InstanceClient, InstanceWithSteps, WireAccess, WireRef } from "everstep/client";
import { useLayoutEffect, useMemo, useRef } from "react";
import { type Problem, problemOf } from "../../api/problem.ts";
import { serverNow } from "../../api/server-clock.ts";
import { useSession } from "../../api/session.tsx";
import { useLoaded } from "../../api/use-loaded.ts";
import { useWatched } from "../../api/use-watched.ts";
import { tickNow } from "../../parts/use-now.ts";
import { isEnded } from "../../words/statuses.ts";
import { useWhy, type Why } from "./use-why.ts";

export interface Live {
  readonly address: WireRef;
  readonly instance: InstanceClient;
  readonly value: InstanceWithSteps;
  /** The stream dropped: `value` may be old. */
  readonly isStale: boolean;
  /** When it dropped, so that everything stands still at the same time. */
  readonly staleSince: number | null;
  readonly access: Omit<WireAccess, "now">;
  /** Why it is as it is, once that was asked. */
  readonly why: Why;
  /** The process that answers may be killed: it is one for trying things out. */
  readonly mayKill: boolean;
  /** The process that answers has no code of its workflow. */
  readonly isUnregistered: boolean;
}

export interface LiveState {
  readonly live: Live | null;
  readonly problem: Problem | null;
  readonly isStale: boolean;
}

/** Until it is known; who may not do something is not offered it, not even for a moment. */
const nothing: Omit<WireAccess, "now"> = { instanceCreation: false, management: false, sendEvent: false };

export function useLive(address: WireRef): LiveState {
  const { workflowName, instanceId } = address;
  const { client, access } = useSession();
  const found = useMemo(() => {
    try {
      return { instance: client.workflow(workflowName).get(instanceId) };
    } catch (thrown) {
      return { problem: problemOf(thrown) };
    }
  }, [client, workflowName, instanceId]);
  const { instance } = found;
  const name = instance ? `${workflowName}/${instanceId}` : null;
  const watched = useWatched({
    name,
    open: (terms) => (instance as InstanceClient).watch(terms),
    isOver: ({ details }) => isEnded(details.status),
  });
  const allowed = useLoaded({
    name: instance ? `access ${workflowName}` : null,
    load: (signal) => client.access({ workflowName, signal }),
  });
  const overview = useLoaded({ name: "overview", load: (signal) => client.overview({ signal }) });

  const { value, isStale, problem = found.problem ?? null } = watched;
  const staleSince = useStaleSince(isStale);
  // biome-ignore lint/correctness/useExhaustiveDependencies: with whatever else has come
  useLayoutEffect(tickNow, [value]);
  const why = useWhy(instance ?? null, value ?? null);
  if (!instance || !value) return { live: null, problem, isStale };
  const may = allowed.value ?? (allowed.problem ? access : nothing);
  const mayKill = (overview.value?.mayKill ?? false) && may.management;
  const isUnregistered = allowed.problem?.code === "WORKFLOW_NOT_FOUND";
  const live = { address, instance, value, isStale, staleSince, access: may, why, mayKill, isUnregistered };
  return { live, problem, isStale };
}

function useStaleSince(isStale: boolean): number | null {
  const since = useRef<number | null>(null);
  if (!isStale) since.current = null;
  else since.current ??= serverNow();
  return since.current;
}
