import { type ErrorCode, EverstepError } from "./error.ts";

/** What is read of options. A getter or proxy that throws is a mistake in them: it gets a code, and a sentence that names it. */
export function readOptions<Value>(what: string, code: ErrorCode, read: () => Value): Value {
  try {
    return read();
  } catch (problem) {
    if (isOurs(problem)) throw problem;
    throw new EverstepError(code, `${what} cannot be read: ${messageOf(problem)}`, { cause: problem });
  }
}

function isOurs(problem: unknown): boolean {
  try {
    return problem instanceof EverstepError;
  } catch {
    return false;
  }
}

/** What a getter throws may be made to throw again. */
function messageOf(problem: unknown): string {
  try {
    const text = problem instanceof Error ? problem.message : String(problem);
    return `${text.slice(0, 200).replace(/\.$/, "")}.`;
  } catch {
    return "reading it throws.";
  }
}
