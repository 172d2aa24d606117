import type { StepRecord, StepType } from "../model/step.ts";

/**
 * Identity of a step within its run. A key is the trimmed name; a nested step's key is its parent's key, a slash and
 * its own; from the second use of a name on it ends in the number of the use: `ask`, `ask#2`, `ask#3`. A slash, backslash
 * or such an ending inside a name is escaped, so that no two different places ever share a key and no character needs
 * forbidding.
 */
export function stepKey(name: string, parentKey: string | null, count: number): string {
  const own = count === 1 ? escapeName(name) : `${escapeName(name)}#${count}`;
  return parentKey === null ? own : `${parentKey}/${own}`;
}

/**
 * Early histories number the uses of some names from 0: `ask#0`, `ask#1`. Gives the key without its number for a step that
 * was recorded like that, so that its run goes on with such keys.
 */
export function numberedFromZero({ key, name, parentKey, count }: StepRecord): string | null {
  if (key.lastIndexOf("#") < 0) return null;
  const first = stepKey(name, parentKey, 1);
  return key === `${first}#${count - 1}` ? first : null;
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
