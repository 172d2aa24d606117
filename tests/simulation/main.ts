/** `npm run simulate`: see options.ts for what it can be told. */

import { help, type Options, readOptions } from "./options.ts";
import { replayKept, replaySeed } from "./replay.ts";
import { runAll } from "./run-all.ts";
import { runWorker } from "./worker.ts";

process.exitCode = await main();

async function main(): Promise<number> {
  let options: Options | null;
  try {
    options = readOptions(process.argv.slice(2));
  } catch (error) {
    console.error(`${(error as Error).message}\n\n${help}`);
    return 2;
  }
  if (options === null) {
    console.log(help);
    return 0;
  }
  if (options.worker) return runWorker(options);
  if (options.corpus !== null) return replayKept(options.corpus);
  if (options.replay !== null) return replaySeed(options.replay, options);
  return runAll(options);
}
