/** The program: hands the process to runCli, and ends it with its exit code. */
import { createRequire } from "node:module";
import { homedir } from "node:os";
import { systemRuntime } from "../system-runtime.ts";
import { processInput } from "./process-input.ts";
import { flush, outputTo } from "./process-output.ts";
import { commands } from "./registry.ts";
import { runCli } from "./run-cli.ts";

export async function main(): Promise<never> {
  const stop = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    process.on(signal, () => {
      // Who asks twice does not want to wait for anything.
      if (stop.signal.aborted) process.exit(130);
      stop.abort();
    });
  }

  // A reader that has seen enough (`| head`) closes the pipe; there is nobody to tell anything any more.
  for (const stream of [process.stdout, process.stderr]) {
    stream.on("error", (error: NodeJS.ErrnoException) => process.exit(error.code === "EPIPE" ? 0 : 70));
  }

  const { version } = createRequire(import.meta.url)("everstep/package.json") as { readonly version: string };
  const err = outputTo(process.stderr, process.env);
  const code = await runCli(process.argv.slice(2), {
    commands,
    version,
    out: outputTo(process.stdout, process.env),
    err,
    input: processInput(process.stdin, process.stderr),
    env: process.env,
    cwd: process.cwd(),
    home: homedir(),
    runtime: systemRuntime,
    signal: stop.signal,
    createClient: async (settings) => (await import("../fetch-client/index.ts")).createClient(settings),
  });
  await flush(process.stdout);
  await flush(process.stderr);
  // Connections that are kept open for a next request must not keep the process.
  return process.exit(code);
}
