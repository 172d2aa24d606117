/**
 * What of a module's exports is ours. Everything is known by its shape: the file's own copy of the library may be
 * another one than this program's.
 */
import type { App, WorkflowDefinition } from "../../../index.ts";

export interface Exported {
  readonly app: App | null;
  /** By the name that code uses for them; without those of the app. */
  readonly workflows: Readonly<Record<string, WorkflowDefinition>>;
  /** Exported classes that look as if written for Cloudflare, which need a name before they are workflows. */
  readonly classes: readonly string[];
}

export function exportedBy(module: Readonly<Record<string, unknown>>): Exported {
  const workflows: Record<string, WorkflowDefinition> = {};
  const seen = new Set<WorkflowDefinition>();
  for (const [name, value] of Object.entries(module)) {
    for (const [key, definition] of definitionsIn(name, value)) {
      if (seen.has(definition)) continue;
      seen.add(definition);
      workflows[freeKey(key, workflows)] = definition;
    }
  }
  const classes = Object.entries(module).filter(([, value]) => isEntrypointClass(value));
  return { app: appIn(module), workflows, classes: classes.map(([name]) => name) };
}

/** `default` and `app` are where one looks first; any other export may be it too. */
function appIn(module: Readonly<Record<string, unknown>>): App | null {
  const candidates = [module.default, module.app, ...Object.values(module)];
  return candidates.find(isApp) ?? null;
}

function definitionsIn(name: string, value: unknown): (readonly [string, WorkflowDefinition])[] {
  if (isDefinition(value)) return [[name === "default" ? value.name : name, value]];
  if (Array.isArray(value)) return value.filter(isDefinition).map((each) => [each.name, each]);
  if (!isPlainRecord(value)) return [];
  return Object.entries(value).filter((entry): entry is [string, WorkflowDefinition] =>
    isDefinition(entry[1]),
  );
}

function freeKey(key: string, taken: Readonly<Record<string, unknown>>): string {
  if (!Object.hasOwn(taken, key)) return key;
  let number = 2;
  while (Object.hasOwn(taken, `${key}${number}`)) number += 1;
  return `${key}${number}`;
}

export function isDefinition(value: unknown): value is WorkflowDefinition {
  if (typeof value !== "object" || value === null) return false;
  const { name, run, options, limits } = value as Partial<WorkflowDefinition>;
  return (
    typeof name === "string" &&
    typeof run === "function" &&
    typeof options === "object" &&
    typeof limits === "object"
  );
}

export function isApp(value: unknown): value is App {
  if (typeof value !== "object" || value === null) return false;
  const { fetch, workflows, start, stop } = value as Readonly<Record<string, unknown>>;
  const isHost = [fetch, start, stop].every((member) => typeof member === "function");
  return isHost && typeof workflows === "object" && workflows !== null;
}

function isPlainRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !isApp(value);
}

function isEntrypointClass(value: unknown): boolean {
  return typeof value === "function" && typeof value.prototype?.run === "function";
}
