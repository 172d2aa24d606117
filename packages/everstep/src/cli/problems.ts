/** The two ways in which a command does not succeed; everything else that is thrown is a failure too, less well said. */

/** It was called wrongly: exit code 64, nothing was done. */
export class UsageError extends Error {
  override readonly name = "UsageError";
  /** What to do instead, on a line of its own: "Did you mean ...?" */
  readonly hint: string | undefined;

  constructor(message: string, hint?: string) {
    super(message);
    this.hint = hint;
  }
}

/** It was called rightly and did not work out: exit code 70. */
export class CommandFailed extends Error {
  override readonly name = "CommandFailed";
  readonly hint: string | undefined;

  constructor(message: string, hint?: string) {
    super(message);
    this.hint = hint;
  }
}

export function tooLarge(what: string, maxBytes: number): UsageError {
  return new UsageError(`${what} has more than ${maxBytes / 1024 / 1024} MiB, which no server takes.`);
}
