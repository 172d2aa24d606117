/** What every script for people does with its arguments. */

/** Runs it, and gives the exit code. `readOptions` gives null where help was asked for, and throws where one makes no sense. */
export async function runScript<Options>(
  help: string,
  readOptions: (args: readonly string[]) => Options | null,
  run: (options: Options) => Promise<number>,
): Promise<number> {
  let options: Options | null;
  try {
    options = readOptions(process.argv.slice(2));
  } catch (error) {
    console.error(`${(error as Error).message}\n\n${help}`);
    return 2;
  }
  if (options !== null) return run(options);
  console.log(help);
  return 0;
}
