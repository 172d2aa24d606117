/** A field of a form, of any kind. */
import { Plus, X } from "lucide-react";
import { type ReactNode, useId } from "react";
import type { Draft, DraftGroup } from "./draft.ts";
import { type Path, placeOf } from "./issues.ts";
import { ScalarInput } from "./scalar-input.tsx";
import type { Field } from "./schema-fields.ts";

export interface FieldProps<Each extends Field = Field> {
  readonly field: Each;
  readonly draft: Draft;
  readonly path: Path;
  /** What is wrong, by place. */
  readonly wrong: ReadonlyMap<string, string>;
  readonly onDraft: (draft: Draft) => void;
}

type Kind<Name extends Field["kind"]> = Field & { readonly kind: Name };

export function FieldInput({ isRoot = false, ...props }: FieldProps & { readonly isRoot?: boolean }) {
  const { field } = props;
  if (field.kind === "group") return <GroupInput {...props} field={field} isRoot={isRoot} />;
  if (field.kind === "list") return <ListInput {...props} field={field} />;
  return <LabelledInput {...props} />;
}

function GroupInput(props: FieldProps<Kind<"group">> & { readonly isRoot: boolean }) {
  const { field, path, wrong, onDraft, isRoot } = props;
  const draft = props.draft as DraftGroup;
  const inputs = field.fields.map(({ name, field: each }) => (
    <FieldInput
      key={name}
      field={each}
      draft={draft[name] ?? ""}
      path={[...path, name]}
      wrong={wrong}
      onDraft={(next) => onDraft({ ...draft, [name]: next })}
    />
  ));
  if (isRoot) return <div className="stack">{inputs}</div>;
  return (
    <fieldset className="group stack">
      <legend>
        {field.label}
        <Optional field={field} />
      </legend>
      <About field={field} mistake={wrong.get(placeOf(path))} />
      {inputs}
    </fieldset>
  );
}

function ListInput({ field, path, wrong, onDraft, ...props }: FieldProps<Kind<"list">>) {
  const draft = props.draft as readonly string[];
  const mistake = wrong.get(placeOf(path));
  return (
    <fieldset className="field list-field">
      <legend className="label">
        {field.label}
        <Optional field={field} />
      </legend>
      {draft.map((text, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: an item is known by its place
        <div key={at} className="list-item">
          <ScalarInput
            field={field.item}
            text={text}
            label={`${field.label} ${at + 1}`}
            mistake={wrong.get(placeOf([...path, at]))}
            onText={(next) => onDraft(draft.with(at, next))}
          />
          <button
            type="button"
            className="quiet icon-only"
            aria-label={`Remove ${field.label} ${at + 1}`}
            onClick={() => onDraft(draft.toSpliced(at, 1))}
          >
            <X aria-hidden />
          </button>
          {wrong.has(placeOf([...path, at])) && (
            <div className="wrong small">{wrong.get(placeOf([...path, at]))}</div>
          )}
        </div>
      ))}
      <div>
        <button type="button" className="tiny" onClick={() => onDraft([...draft, ""])}>
          <Plus aria-hidden />
          Add to {field.label}
        </button>
      </div>
      <About field={field} mistake={mistake} />
    </fieldset>
  );
}

function LabelledInput({ field, draft, path, wrong, onDraft }: FieldProps) {
  const id = useId();
  const mistake = wrong.get(placeOf(path));
  return (
    <div className="field">
      <label htmlFor={id}>
        {field.label}
        <Optional field={field} />
      </label>
      <ScalarInput id={id} field={field} text={draft as string} mistake={mistake} onText={onDraft} />
      <About id={`${id}-about`} field={field} mistake={mistake} />
    </div>
  );
}

function Optional({ field }: { readonly field: Field }) {
  return field.isRequired ? null : <span className="dim optional"> optional</span>;
}

function About({
  id,
  field,
  mistake,
}: {
  readonly id?: string;
  readonly field: Field;
  readonly mistake: string | undefined;
}): ReactNode {
  const hints = [
    field.description,
    field.isNullable && field.isRequired ? "Left empty, it is null." : undefined,
    field.kind === "json" ? "JSON" : undefined,
  ];
  const hint = hints.filter(Boolean).join(" · ");
  if (mistake === undefined && hint === "") return null;
  return (
    <div id={id} className={mistake === undefined ? "hint" : "wrong"}>
      {mistake ?? hint}
    </div>
  );
}
