/** The value that a form means, and what is wrong with it as far as the form can tell. The service checks it all again. */

import { parseJson } from "everstep/client";
import { timeOfLocalText } from "../../words/local-time.ts";
import { spokenNumber } from "../../words/numbers.ts";
import { type Draft, type DraftGroup, isBlank } from "./draft.ts";
import type { Path, ValueIssue } from "./issues.ts";
import type { Bound, Field } from "./schema-fields.ts";

export interface Reading {
  /** Undefined is left out of what is sent. What is wrong is there as it was typed, so that it is not lost. */
  readonly value: unknown;
  readonly issues: readonly ValueIssue[];
}

export function readDraft(field: Field, draft: Draft, path: Path = []): Reading {
  if (isBlank(draft) && !(field.kind === "group" && field.isRequired)) return readBlank(field, path);
  switch (field.kind) {
    case "group":
      return readGroup(field, draft as DraftGroup, path);
    case "list":
      return readList(field, draft as readonly string[], path);
    default:
      return readScalar(field, draft as string, path);
  }
}

function readBlank(field: Field, path: Path): Reading {
  if (!field.isRequired) return right(undefined);
  if (field.isNullable) return right(null);
  if (field.kind === "list" && field.itemsMin === 0) return right([]);
  // Any JSON may do; only the service knows.
  if (field.kind === "json" && path.length === 0) return right(undefined);
  return wrong(undefined, path, "This is needed.");
}

function readGroup(field: Field & { readonly kind: "group" }, draft: DraftGroup, path: Path): Reading {
  const readings = field.fields.map(({ name, field: each }) => ({
    name,
    ...readDraft(each, draft[name] ?? "", [...path, name]),
  }));
  const entries = readings.filter(({ value }) => value !== undefined).map(({ name, value }) => [name, value]);
  return { value: Object.fromEntries(entries), issues: readings.flatMap(({ issues }) => issues) };
}

function readList(field: Field & { readonly kind: "list" }, draft: readonly string[], path: Path): Reading {
  const readings = draft.map((text, at) => readDraft(field.item, text, [...path, at]));
  const issues = readings.flatMap((reading) => reading.issues);
  if (draft.length < field.itemsMin) issues.push({ path, message: `At least ${field.itemsMin} are needed.` });
  if (draft.length > field.itemsMax) issues.push({ path, message: `At most ${field.itemsMax} are allowed.` });
  return { value: readings.map(({ value }) => value ?? ""), issues };
}

function readScalar(field: Field, text: string, path: Path): Reading {
  switch (field.kind) {
    case "number":
      return readNumber(field, text, path);
    case "flag":
      return right(text === "true");
    case "choice":
      return right(field.options[Number(text)]);
    case "json":
      try {
        return right(parseJson(text));
      } catch {
        return wrong(text, path, "This is not JSON.");
      }
    case "text":
      return readText(field, text, path);
    default:
      return right(undefined);
  }
}

function readText(field: Field & { readonly kind: "text" }, text: string, path: Path): Reading {
  if (field.format === "time") {
    const at = timeOfLocalText(text);
    return at === null ? wrong(text, path, "This is not a time.") : right(new Date(at).toISOString());
  }
  if (text.length < field.lengthMin)
    return wrong(text, path, `At least ${spokenNumber(field.lengthMin)} characters are needed.`);
  if (text.length > field.lengthMax)
    return wrong(text, path, `At most ${spokenNumber(field.lengthMax)} characters are allowed.`);
  return right(text);
}

function readNumber(field: Field & { readonly kind: "number" }, text: string, path: Path): Reading {
  const value = Number(text);
  if (!Number.isFinite(value)) return wrong(text, path, "This is not a number.");
  if (field.isWhole && !Number.isInteger(value)) return wrong(value, path, "This must be a whole number.");
  const rule = outOf(field.min, field.max, value);
  return rule === undefined ? right(value) : wrong(value, path, rule);
}

function outOf(min: Bound, max: Bound, value: number): string | undefined {
  if (min && (min.isIn ? value < min.value : value <= min.value))
    return min.isIn ? `This must be ${min.value} or more.` : `This must be more than ${min.value}.`;
  if (max && (max.isIn ? value > max.value : value >= max.value))
    return max.isIn ? `This must be ${max.value} or less.` : `This must be less than ${max.value}.`;
  return undefined;
}

function right(value: unknown): Reading {
  return { value, issues: [] };
}

function wrong(value: unknown, path: Path, message: string): Reading {
  return { value, issues: [{ path, message }] };
}
