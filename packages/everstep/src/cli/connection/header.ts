/** Headers as people write them: `Name: value`. */
import { UsageError } from "../problems.ts";

export interface Header {
  readonly name: string;
  readonly value: string;
}

export function parseHeader(text: string, what: string): Header {
  const colon = text.indexOf(":");
  if (colon === -1) throw new UsageError(`${what} has no colon.`, 'Write it as "Name: value".');
  return checkHeader({ name: text.slice(0, colon), value: text.slice(colon + 1) }, what);
}

// The value is never part of a message: it is what one logs in with.
export function checkHeader({ name, value }: Header, what: string): Header {
  if (name === "")
    throw new UsageError(`${what} has no name before its colon.`, 'Write it as "Name: value".');
  if (!namePattern.test(name)) {
    throw new UsageError(`${what} has a name with characters that no header name can have.`);
  }
  if (!valuePattern.test(value)) {
    throw new UsageError(
      `${what} "${name}" has a line break or another character in its value that no header can have.`,
    );
  }
  return { name, value: value.replace(/^[ \t]+|[ \t]+$/g, "") };
}

const namePattern = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const valuePattern = /^[\t\u0020-\u007e\u0080-\u00ff]*$/;
