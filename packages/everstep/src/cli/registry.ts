/** Every command there is, in the order in which help lists them. */
import type { Command } from "./command.ts";
import { createCompletion } from "./commands/completion.ts";
import { deadLettersList } from "./commands/dead-letters-list.ts";
import { deadLettersRetry } from "./commands/dead-letters-retry.ts";
import { emit } from "./commands/emit.ts";
import { createHelp } from "./commands/help.ts";
import { instancesCreate } from "./commands/instances-create.ts";
import { instancesDelete } from "./commands/instances-delete.ts";
import { instancesExport } from "./commands/instances-export.ts";
import { instancesFork } from "./commands/instances-fork.ts";
import { instancesGet } from "./commands/instances-get.ts";
import { instancesHistory } from "./commands/instances-history.ts";
import { instancesList } from "./commands/instances-list.ts";
import { instancesLogs } from "./commands/instances-logs.ts";
import { instancesPause } from "./commands/instances-pause.ts";
import { instancesRestart } from "./commands/instances-restart.ts";
import { instancesResume } from "./commands/instances-resume.ts";
import { instancesRetry } from "./commands/instances-retry.ts";
import { instancesRewind } from "./commands/instances-rewind.ts";
import { instancesSendEvent } from "./commands/instances-send-event.ts";
import { instancesSkipSleep } from "./commands/instances-skip-sleep.ts";
import { instancesTerminate } from "./commands/instances-terminate.ts";
import { instancesWhy } from "./commands/instances-why.ts";
import { verify } from "./commands/verify.ts";
import { waiters } from "./commands/waiters.ts";
import { workflowsList } from "./commands/workflows-list.ts";
import { hostCommands } from "./host/index.ts";

export const commands: readonly Command[] = [
  ...hostCommands,
  workflowsList,
  emit,
  waiters,
  verify,
  instancesList,
  instancesGet,
  instancesWhy,
  instancesHistory,
  instancesLogs,
  instancesCreate,
  instancesSendEvent,
  instancesPause,
  instancesResume,
  instancesTerminate,
  instancesDelete,
  instancesRestart,
  instancesRewind,
  instancesRetry,
  instancesSkipSleep,
  instancesFork,
  instancesExport,
  deadLettersList,
  deadLettersRetry,
  createHelp(() => commands),
  createCompletion(() => commands),
];
