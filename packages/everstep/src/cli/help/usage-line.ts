/** How a command is called, in one line. */
import type { Argument, Command, Option, ValueOption } from "../command.ts";

/** `instances get [workflow] <id>` */
export function signatureOf(command: Command, name: readonly string[] = command.path): string {
  return [...name, ...(command.arguments ?? []).map(argumentText)].join(" ");
}

/** `<id>`, or `[workflow]` where it may be left out. */
export function argumentText({ name, optional }: Argument): string {
  return optional ? `[${name}]` : `<${name}>`;
}

/** `-H, --header <"Name: value">` */
export function optionLine(name: string, option: Option): string {
  const short = option.short === undefined ? "" : `-${option.short}, `;
  return `${short}--${name}${option.type === "flag" ? "" : ` ${placeholderOf(name, option)}`}`;
}

function placeholderOf(name: string, { placeholder, type }: ValueOption): string {
  return placeholder ?? `<${type === undefined || type === "text" ? name : type}>`;
}
