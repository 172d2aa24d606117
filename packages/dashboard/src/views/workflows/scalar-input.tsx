import { zone } from "../../words/time.ts";
import type { Field } from "./schema-fields.ts";

export function ScalarInput({
  id,
  field,
  text,
  label,
  mistake,
  onText,
}: {
  readonly id?: string;
  readonly field: Field;
  readonly text: string;
  /** Where there is no label of its own. */
  readonly label?: string;
  readonly mistake: string | undefined;
  readonly onText: (text: string) => void;
}) {
  const common = {
    id,
    value: text,
    "aria-label": label,
    "aria-invalid": mistake !== undefined,
    "aria-required": field.isRequired && !field.isNullable,
    "aria-describedby": id === undefined ? undefined : `${id}-about`,
    onChange: (event: { readonly target: { readonly value: string } }) => onText(event.target.value),
  };
  switch (field.kind) {
    case "flag":
      return (
        <Select
          {...common}
          field={field}
          options={[
            ["true", "yes"],
            ["false", "no"],
          ]}
        />
      );
    case "choice":
      return (
        <Select
          {...common}
          field={field}
          options={field.options.map((option, at) => [
            String(at),
            typeof option === "string" ? option : JSON.stringify(option),
          ])}
        />
      );
    case "number":
      // A field of type number would hide what is no number instead of keeping it.
      return <input {...common} inputMode={field.isWhole ? "numeric" : "decimal"} autoComplete="off" />;
    case "json":
      return <textarea {...common} rows={4} spellCheck={false} autoCapitalize="off" />;
    case "text":
      if (field.format === "time")
        return <input {...common} type="datetime-local" step="any" title={`In ${zone}`} />;
      if (field.format === "date") return <input {...common} type="date" />;
      return <input {...common} type={types[field.format]} autoComplete="off" />;
    default:
      return null;
  }
}

const types = { plain: "text", email: "email", url: "url" } as const;

function Select({
  field,
  options,
  ...props
}: {
  readonly field: Field;
  readonly options: readonly (readonly [string, string])[];
  readonly id: string | undefined;
  readonly value: string;
  readonly onChange: (event: { readonly target: { readonly value: string } }) => void;
}) {
  const isOnly = field.isRequired && options.length === 1;
  return (
    <select {...props}>
      {!isOnly && <option value="">{field.isRequired ? "Choose" : "–"}</option>}
      {options.map(([value, words]) => (
        <option key={value} value={value}>
          {words}
        </option>
      ))}
    </select>
  );
}
