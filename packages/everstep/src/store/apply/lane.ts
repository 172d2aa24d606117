/**
 * Who may claim a run: where its task stands, as one number, so that a store with an index over it finds what to claim,
 * what is leased and what is due next with one seek each. A run without a lane wants no turn: it is paused or has ended.
 *
 *   starting  -> held                 claimed for the first time
 *   resuming  -> held                 claimed again
 *   held      -> resuming             suspended, yielded or released
 *   held     <-> heldPaused           paused and resumed under a lease
 *   any       -> none                 paused without a lease, or ended
 */
import type { TaskKind } from "../../model/task.ts";
import { taskPriority } from "../../model/task.ts";

export const lanes = {
  resuming: 0,
  starting: 1,
  /** Under a lease; the due time is its end. */
  held: 2,
  /** Under a lease that was in force when the instance was paused; not claimable when it ends. */
  heldPaused: 3,
} as const;

/** The lanes a claim looks into. */
export const claimableLanes: readonly number[] = [lanes.resuming, lanes.held, lanes.starting];

/** Those of them in which nobody has a lease. */
export const pendingLanes: readonly number[] = [lanes.resuming, lanes.starting];

export function isLeased(lane: number | null): boolean {
  return lane === lanes.held || lane === lanes.heldPaused;
}

export function laneOf(kind: TaskKind): number {
  return taskPriority(kind) === 0 ? lanes.resuming : lanes.starting;
}
