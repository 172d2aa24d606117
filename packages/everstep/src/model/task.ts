/**
 * What a run's next turn is: its start, or one of the ways to go on. Every run has one task, kept in the run's own
 * hot row; `dueAt` says when, and doubles as the end of the lease while a runner holds it.
 */
export type TaskKind = "run" | "resume" | "retry" | "wake";

export const taskKinds: readonly TaskKind[] = ["run", "resume", "retry", "wake"];

/** Resuming work goes before new starts. */
export function taskPriority(kind: TaskKind): number {
  return kind === "run" ? 1 : 0;
}
