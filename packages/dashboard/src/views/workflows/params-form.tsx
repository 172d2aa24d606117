import { useMemo } from "react";
import { JsonField } from "../../parts/json-field.tsx";
import { FieldInput, type FieldProps } from "./field-input.tsx";
import { placeIssues, placeOf, type ValueIssue } from "./issues.ts";
import type { Params } from "./use-params.ts";

export function ParamsForm({
  params,
  issues,
  hasSchema,
}: {
  readonly params: Params;
  /** What the service says of what was sent last. */
  readonly issues: readonly ValueIssue[];
  readonly hasSchema: boolean;
}) {
  const { field, draft, setDraft, mode, text, setText, hasFields, change, unfit } = params;
  const all = params.issues.length > 0 ? params.issues : issues;
  const wrong = useMemo(() => placeIssues(field, all), [field, all]);
  const props: FieldProps = { field, draft, path: [], wrong, onDraft: setDraft };
  const whole = wrong.get(placeOf([]));
  const said = all.map(({ path, message }) =>
    path.length === 0 ? message : `${path.join(".")}: ${message}`,
  );
  return (
    <div className="stack">
      {hasFields && (
        <label className="switch">
          <input
            type="checkbox"
            checked={mode === "json"}
            onChange={(event) => change(event.target.checked ? "json" : "fields")}
          />
          as JSON
          {unfit && (
            <span className="wrong small" role="alert">
              {unfit}
            </span>
          )}
        </label>
      )}
      {mode === "json" ? (
        <JsonField
          label="Params"
          hint={
            hasSchema ? "Checked by the workflow's own schema." : "Any JSON. Left empty, the params are {}."
          }
          text={text}
          onText={setText}
          rows={10}
          wrong={said.length > 0 ? said.join(" ") : undefined}
        />
      ) : field.kind === "group" ? (
        <>
          {whole && (
            <p className="wrong small" role="alert">
              {whole}
            </p>
          )}
          <FieldInput {...props} isRoot />
        </>
      ) : (
        <FieldInput {...props} />
      )}
    </div>
  );
}
