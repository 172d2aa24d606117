import type { Command } from "../command.ts";
import { check } from "./check.ts";
import { dev } from "./dev/dev.ts";
import { doctor } from "./doctor/doctor.ts";
import { init } from "./init/init.ts";
import { migrate } from "./migrate.ts";
import { replay } from "./replay.ts";
import { serve } from "./serve.ts";

/** The commands that load the host's own files. Every other command talks HTTP only. */
export const hostCommands: readonly Command[] = [init, dev, serve, migrate, doctor, check, replay];
