/**
 * Where everstep does something else than the recorded engine, and why. A program that is not listed must conform; one
 * that is listed must differ, so that no entry outlives its reason. Programs of level `info` are not compared.
 */
export type Differences = Readonly<Record<string, string>>;

const noRollback =
  "Rollback handlers are not offered: step.do refuses an argument after its function, and the instance fails at once " +
  "instead of running on without the promised rollback. Undo in a catch block with a step of its own.";

const pastIsOver =
  "sleepUntil a time in the past completes at once: the time has come, and a replay that is late must not fail.";

const noControls =
  "DEL and the controls after it are refused in names as all other control characters are: they move cursors in terminals.";

/** Classes written for Cloudflare, through the binding. */
export const cloudflareDifferences: Differences = {
  "name-control-characters": noControls,
  "rollback-caught-failure-then-success": noRollback,
  "rollback-on-nonretryable": noRollback,
  "rollback-reverse-order": noRollback,
  "rollback-terminate-without-option": noRollback,
  "sleep-until-past": pastIsOver,
  "sleep-until-past-uncaught": pastIsOver,
};

/** Functions given to defineWorkflow, through everstep's own handles. */
export const everstepDifferences: Differences = {
  "batch-without-ids":
    "Every instance of a batch needs an id, so that the batch can be repeated after a lost answer.",
  "delete-running-instance":
    "Instances cannot be deleted: what was recorded stays until its retention ends. Terminate it, and set its retention.",
  "name-control-characters": noControls,
  "pause-while-sleeping-freezes-timer":
    "Timers keep counting while paused: what became due meanwhile happens right after resume.",
  "rollback-caught-failure-then-success": noRollback,
  "rollback-on-nonretryable": noRollback,
  "rollback-reverse-order": noRollback,
  "rollback-terminate-without-option": noRollback,
  "samename-parallel":
    "A name that is still in flight cannot be used again (DUPLICATE_STEP_KEY), unless repeat: true says that the order of calls numbers its uses.",
  "sleep-until-past": pastIsOver,
  "sleep-until-past-uncaught": pastIsOver,
};
