/** The params of an instance to be: typed into fields, or as JSON. Going from one to the other loses nothing. */
import { parseJson } from "everstep/client";
import { useMemo, useState } from "react";
import { readJson } from "../../parts/json-field.tsx";
import { type Draft, draftOf, emptyDraft } from "./draft.ts";
import type { ValueIssue } from "./issues.ts";
import { readDraft } from "./read-draft.ts";
import { type Field, fieldOfSchema } from "./schema-fields.ts";

export interface Params {
  readonly field: Field;
  readonly draft: Draft;
  setDraft(draft: Draft): void;
  readonly mode: "fields" | "json";
  readonly text: string;
  setText(text: string): void;
  /** Whether there are fields at all. */
  readonly hasFields: boolean;
  /** Changes the mode; what does not fit into fields stays JSON, and says so. */
  change(mode: "fields" | "json"): void;
  readonly unfit: string | null;
  /** What the form itself has found wrong. */
  readonly issues: readonly ValueIssue[];
  check(): { readonly ok: true; readonly value: unknown } | { readonly ok: false };
}

export function useParams(schema: unknown): Params {
  // Details are asked for again and again; the schema is a new object each time, and the same.
  const schemaText = JSON.stringify(schema) ?? "";
  const field = useMemo(
    () => fieldOfSchema(schemaText === "" ? undefined : parseJson(schemaText)),
    [schemaText],
  );
  const hasFields = field.kind !== "json";
  const [draft, setDraft] = useState<Draft>(() => emptyDraft(field));
  const [mode, setMode] = useState<"fields" | "json">(hasFields ? "fields" : "json");
  const [text, setText] = useState("");
  const [unfit, setUnfit] = useState<string | null>(null);
  const [issues, setIssues] = useState<readonly ValueIssue[]>([]);

  const toJson = (): void => {
    const { value } = readDraft(field, draft);
    setText(value === undefined ? "" : JSON.stringify(value, undefined, 2));
    setMode("json");
  };
  const toFields = (): void => {
    const read = readJson(text);
    const next = read.ok ? draftOf(field, read.value) : undefined;
    if (next === undefined) {
      setUnfit(read.ok ? "This JSON has parts that the fields cannot show." : "Repair the JSON first.");
      return;
    }
    setDraft(next);
    setMode("fields");
  };
  return {
    field,
    draft,
    setDraft: (next) => {
      setDraft(next);
      setIssues([]);
    },
    mode,
    text,
    setText: (next) => {
      setText(next);
      setUnfit(null);
    },
    hasFields,
    change(next) {
      setUnfit(null);
      setIssues([]);
      if (next === mode) return;
      if (next === "json") toJson();
      else toFields();
    },
    unfit,
    issues,
    check() {
      if (mode === "json") {
        const read = readJson(text);
        return read.ok ? { ok: true, value: read.value } : { ok: false };
      }
      const { value, issues: found } = readDraft(field, draft);
      setIssues(found);
      return found.length === 0 ? { ok: true, value } : { ok: false };
    },
  };
}
