/** What went wrong, said to the person who called, and as an exit code. */
import type { ExitCode } from "./command.ts";
import type { Secrets } from "./connection/secrets.ts";
import type { Output } from "./output/output.ts";
import { painted } from "./output/paint.ts";
import { camelCase } from "./parse.ts";
import { CommandFailed, UsageError } from "./problems.ts";

/** `options` are those of the command that was called. */
export function reportProblem(
  error: unknown,
  options: readonly string[],
  err: Output,
  secrets: Secrets,
): ExitCode {
  const { message, hint } = wordsFor(error, options);
  const isMistake = isMistakeOfCaller(error);
  const words = isMistake ? inOptionWords(message, options) : message;
  err.line(painted("red", "error:"), ` ${secrets.hide(words)}`);
  if (hint !== undefined) err.text(secrets.hide(hint));
  return isMistake ? 64 : 70;
}

/** What was typed cannot be, whether this program or the server says so; nothing was done. */
function isMistakeOfCaller(error: unknown): boolean {
  if (error instanceof UsageError) return true;
  const { code, details } = Object(error) as {
    readonly code?: unknown;
    readonly details?: { readonly status?: unknown };
  };
  // Where no server says so, it is the app of a host command that cannot be used as it is.
  if (code === "INVALID_ARGUMENT") return details?.status !== undefined;
  return (
    typeof code === "string" &&
    /^INVALID_|_TOO_LARGE$|^(WORKFLOW_PARAMS|EVENT_PAYLOAD)_INVALID$|^UNKNOWN_EVENT_TYPE$/.test(code)
  );
}

/**
 * What a server says of a field, said of the option that was typed for it: `The body: "startAt" must be ...` and
 * `pageSize is ...` are about --start-at and --page-size.
 */
function inOptionWords(message: string, options: readonly string[]): string {
  for (const name of options) {
    const field = camelCase(name);
    const about = new RegExp(`^(?:The (?:body|query): )?("?)${field}\\1(?= (?:is|must|has|may)\\b)`);
    if (about.test(message)) return message.replace(about, `--${name}`);
  }
  return message;
}

function wordsFor(
  error: unknown,
  options: readonly string[],
): { readonly message: string; readonly hint?: string | undefined } {
  if (error instanceof UsageError || error instanceof CommandFailed) return error;
  const { code, message } = Object(error) as { readonly code?: unknown; readonly message?: unknown };
  const text = typeof message === "string" ? message : String(error);
  if (typeof code !== "string") return { message: text };
  return { message: `${text} (${code})`, hint: hints[code] ?? hintFor(code, options) };
}

/** Where it depends on what the command takes. */
function hintFor(code: string, options: readonly string[]): string | undefined {
  if (code !== "INSTANCE_ID_ALREADY_EXISTS" || !options.includes("if-exists")) return undefined;
  return "To take the one that is there: --if-exists return.";
}

/** What a person at a command line can do, beyond what the message says. */
const hints: Readonly<Record<string, string>> = {
  CONNECTION_FAILED: '"everstep dev" starts a server; --url, EVERSTEP_URL or a config file name another.',
  WORKFLOW_NOT_FOUND: '"everstep workflows list" shows those there are.',
  INSTANCE_NOT_FOUND: '"everstep instances list" shows those there are.',
  STEP_NOT_FOUND: '"everstep instances get" shows the steps with their names.',
  RUN_NOT_FOUND: '"everstep instances get" shows the number of the current run.',
  INSTANCE_TERMINAL: 'To run it again: "everstep instances restart".',
  FAILED_STEP_NOT_RETRYABLE:
    'To run it again: "everstep instances restart", with --from <step> from a step on.',
  INSTANCE_NOT_ERRORED: '"everstep instances why" says how it is.',
  ROUTE_NOT_FOUND:
    "The URL must be where the workflows are mounted: https://host/api/workflows, not just the host.",
  UNAUTHORIZED: 'Give a token with EVERSTEP_TOKEN, or any header with -H "Name: value" or a config file.',
};
