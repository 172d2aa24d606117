/** What a server says of a field, said of the option that was typed for it. */
import { camelCase } from "./parse.ts";

/** `The body: "startAt" must be ...` and `pageSize is ...` are about --start-at and --page-size. */
export function inOptionWords(message: string, options: readonly string[]): string {
  for (const name of options) {
    const field = camelCase(name);
    const about = new RegExp(`^(?:The (?:body|query): )?("?)${field}\\1(?= (?:is|must|has|may)\\b)`);
    if (about.test(message)) return message.replace(about, `--${name}`);
  }
  return message;
}
