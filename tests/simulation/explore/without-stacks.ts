/**
 * A stack names files, whose paths are of another length on the next machine, and a stored error takes as many bytes. Where
 * bytes decide what happens, the same seed would be another world there.
 */
const errors = Error as ErrorConstructor & { stackTraceLimit?: number };
let users = 0;
let limit: number | undefined;

export async function withoutStacks<Result>(code: () => Promise<Result>): Promise<Result> {
  if (users++ === 0) {
    limit = errors.stackTraceLimit;
    errors.stackTraceLimit = 0;
  }
  try {
    return await code();
  } finally {
    if (--users === 0 && limit !== undefined) errors.stackTraceLimit = limit;
  }
}
