/** `npm run simulate`: see options.ts for what it can be told. */
import { runScript } from "../support/run-script.ts";
import { help, type Options, readOptions } from "./options.ts";
import { replayKept, replaySeed } from "./replay.ts";
import { runAll } from "./run-all.ts";
import { runWorker } from "./worker.ts";

process.exitCode = await runScript(help, readOptions, run);

function run(options: Options): Promise<number> {
  if (options.worker) return runWorker(options);
  if (options.corpus !== null) return replayKept(options.corpus);
  if (options.replay !== null) return replaySeed(options.replay, options);
  return runAll(options);
}
