import { Console } from "node:console";

/** Standard output is a program's: what the user's own code prints goes to standard error. */
export function consoleAside(): void {
  globalThis.console = new Console(process.stderr, process.stderr);
}
