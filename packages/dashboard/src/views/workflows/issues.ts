/** What is wrong with a value, and where in it. */
import type { Problem } from "../../api/problem.ts";
import type { Field } from "./schema-fields.ts";

export type Path = readonly (string | number)[];

export interface ValueIssue {
  readonly path: Path;
  readonly message: string;
}

/** What the service says of params that do not fit. */
export function issuesOf({ code, details }: Problem): readonly ValueIssue[] {
  if (code !== "WORKFLOW_PARAMS_INVALID" || !Array.isArray(details.issues)) return [];
  return details.issues.flatMap((issue: unknown) => {
    const { message, path } = (issue ?? {}) as { readonly message?: unknown; readonly path?: unknown };
    return typeof message === "string" ? [{ message, path: pathOf(path) }] : [];
  });
}

/** Each issue at the field it belongs to, or at the nearest around it. What belongs to none is at the whole: "[]". */
export function placeIssues(field: Field, issues: readonly ValueIssue[]): ReadonlyMap<string, string> {
  const placed = new Map<string, string>();
  for (const { path, message } of issues) {
    const reached = reach(field, path);
    const rest = path.slice(reached.length);
    const words = rest.length === 0 ? message : `${rest.join(".")}: ${message}`;
    const key = placeOf(reached);
    placed.set(key, placed.has(key) ? `${placed.get(key)} ${words}` : words);
  }
  return placed;
}

export function placeOf(path: Path): string {
  return JSON.stringify(path);
}

/** As much of a path as has a field of its own. */
function reach(field: Field, path: Path): Path {
  const [first, ...rest] = path;
  if (first === undefined) return [];
  if (field.kind === "list" && typeof first === "number") return [first];
  if (field.kind !== "group") return [];
  const inner = field.fields.find(({ name }) => name === String(first));
  return inner ? [inner.name, ...reach(inner.field, rest)] : [];
}

/** Schema libraries write the parts of a path as they are, or as objects with a key. */
function pathOf(path: unknown): Path {
  if (!Array.isArray(path)) return [];
  return path.map((part: unknown) => {
    const key = typeof part === "object" && part !== null ? (part as { readonly key?: unknown }).key : part;
    return typeof key === "number" ? key : String(key);
  });
}
