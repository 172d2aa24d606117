import type { StepType } from "../model/step.ts";

/**
 * Identity of a step within its run. A key is the trimmed name; a nested step's key is its parent's key, a slash and
 * its own; a repeated one's ends in `#n`. A slash, backslash or such an ending inside a name is escaped, so that no two
 * different places ever share a key and no character needs forbidding.
 */
export function stepKey(name: string, parentKey: string | null, repeat: number | null): string {
  const own = repeat === null ? escapeName(name) : `${escapeName(name)}#${repeat}`;
  return parentKey === null ? own : `${parentKey}/${own}`;
}

/**
 * Code written for Cloudflare: kind, name and occurrence. A nested step also carries the attempt of its parent, so an
 * inner step runs again when the outer one does.
 */
export function cloudflareKey(
  type: StepType,
  name: string,
  occurrence: number,
  parent: { readonly key: string; readonly attempt: number } | null,
): string {
  const own = `${type}:${escapeName(name)}#${occurrence}`;
  return parent === null ? own : `${parent.key}@${parent.attempt}/${own}`;
}

const special = /[\\/]|#(?=\d+$)/g;

function escapeName(name: string): string {
  return name.replace(special, "\\$&");
}
