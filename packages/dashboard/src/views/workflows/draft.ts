/** What a person has typed into a form so far, and the value that it means. Nothing typed gets lost: it is text until sent. */
import { localTextOf, timeOfLocalText } from "../../words/local-time.ts";
import type { Field } from "./schema-fields.ts";

export type Draft = string | readonly string[] | DraftGroup;
export interface DraftGroup {
  readonly [name: string]: Draft;
}

export function emptyDraft(field: Field): Draft {
  if (field.default !== undefined) {
    const draft = draftOf(field, field.default);
    if (draft !== undefined) return draft;
  }
  if (field.kind === "list") return [];
  if (field.kind === "group") {
    return Object.fromEntries(field.fields.map(({ name, field: each }) => [name, emptyDraft(each)]));
  }
  // The only value there is need not be chosen.
  if (field.kind === "choice" && field.options.length === 1 && field.isRequired) return "0";
  return "";
}

/** A value in the form; undefined if the form cannot show it as it is. */
export function draftOf(field: Field, value: unknown): Draft | undefined {
  if (value === undefined || (value === null && field.isNullable)) return blankDraft(field);
  switch (field.kind) {
    case "text":
      return typeof value === "string" ? textDraft(field.format, value) : undefined;
    case "number":
      return typeof value === "number" ? String(value) : undefined;
    case "flag":
      return typeof value === "boolean" ? String(value) : undefined;
    case "choice": {
      const at = field.options.findIndex((option) => JSON.stringify(option) === JSON.stringify(value));
      return at < 0 ? undefined : String(at);
    }
    case "list": {
      if (!Array.isArray(value)) return undefined;
      const items = value.map((each) => draftOf(field.item, each));
      return items.every((each) => typeof each === "string") ? items : undefined;
    }
    case "group":
      return groupDraft(field, value);
    case "json":
      return JSON.stringify(value, undefined, 2);
  }
}

export function isBlank(draft: Draft): boolean {
  if (typeof draft === "string") return draft.trim() === "";
  if (isItems(draft)) return draft.length === 0;
  return Object.values(draft).every(isBlank);
}

/** `Array.isArray` does not tell a list that is only read from a group. */
export function isItems(draft: Draft): draft is readonly string[] {
  return Array.isArray(draft);
}

function blankDraft(field: Field): Draft {
  if (field.kind === "list") return [];
  if (field.kind !== "group") return "";
  return Object.fromEntries(field.fields.map(({ name, field: each }) => [name, blankDraft(each)]));
}

function textDraft(format: string, value: string): string | undefined {
  if (format !== "time") return value;
  const at = Date.parse(value);
  const text = localTextOf(at);
  // A time that the field would send otherwise is not shown in it.
  return timeOfLocalText(text) === at && new Date(at).toISOString() === value ? text : undefined;
}

function groupDraft(field: Field & { readonly kind: "group" }, value: unknown): DraftGroup | undefined {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
  const names = new Set(field.fields.map(({ name }) => name));
  if (Object.keys(value).some((name) => !names.has(name))) return undefined;
  const drafts = field.fields.map(({ name, field: each }) => {
    const inner = Object.hasOwn(value, name) ? (value as Record<string, unknown>)[name] : undefined;
    return [name, draftOf(each, inner)] as const;
  });
  return drafts.every(([, draft]) => draft !== undefined)
    ? (Object.fromEntries(drafts) as DraftGroup)
    : undefined;
}
