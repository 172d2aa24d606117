import type { TaskKind } from "../../model/task.ts";

/** Where a run waits for its next turn (run.lua.ts): new starts have a lane of their own. */
export function laneOf(task: TaskKind): "starting" | "resuming" {
  return task === "run" ? "starting" : "resuming";
}
