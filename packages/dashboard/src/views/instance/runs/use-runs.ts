import type { WireInstanceWithMeta, WireStep } from "everstep/client";
import { type Loaded, useLoaded } from "../../../api/use-loaded.ts";
import type { Live } from "../live.ts";

/** All runs, newest first; the current one as it is now. */
export function useRuns({ instance, address, value }: Live): Loaded<readonly WireInstanceWithMeta[]> {
  const { runNumber } = value.meta;
  const loaded = useLoaded({
    name: `runs ${address.workflowName}/${address.instanceId} ${runNumber}`,
    load: (signal) => instance.runs({ signal }),
  });
  const runs = loaded.value?.map((run) => (run.meta.runNumber === runNumber ? value : run));
  return { ...loaded, value: runs };
}

export interface RunSteps {
  readonly steps: readonly WireStep[];
  /** There are more than are shown. */
  readonly isMore: boolean;
}

const pageSize = 100;
const maxSteps = 5000;

/** The steps of one run with their results, from the pages of its history. Null asks nothing. */
export function useRunSteps({ instance, address }: Live, runNumber: number | null): Loaded<RunSteps> {
  return useLoaded({
    name: runNumber === null ? null : `steps ${address.workflowName}/${address.instanceId} ${runNumber}`,
    load: async (signal) => {
      const steps: WireStep[] = [];
      let stepsCursor: string | undefined;
      do {
        const at = stepsCursor === undefined ? {} : { stepsCursor };
        const page = await instance.history({ runNumber: runNumber ?? 1, pageSize, signal, ...at });
        steps.push(...page.steps);
        stepsCursor = page.stepsHasNextPage ? page.stepsCursor : undefined;
      } while (stepsCursor !== undefined && steps.length < maxSteps);
      return { steps, isMore: stepsCursor !== undefined };
    },
  });
}
