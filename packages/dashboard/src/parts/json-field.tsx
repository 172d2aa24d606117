/** A field for JSON. What is in it is text until it is sent; a mistake is said where it is. */
import { parseJson } from "everstep/client";
import { useId } from "react";

export type ReadJson =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly mistake: string };

/** Nothing at all is no value: it is left out of what is sent. */
export function readJson(text: string): ReadJson {
  if (text.trim() === "") return { ok: true, value: undefined };
  try {
    return { ok: true, value: parseJson(text) };
  } catch (error) {
    return {
      ok: false,
      mistake: `This is not JSON: ${error instanceof Error ? error.message : String(error)}`,
    };
  }
}

export function JsonField({
  label,
  hint,
  text,
  onText,
  rows = 6,
  wrong,
}: {
  readonly label: string;
  readonly hint?: string;
  readonly text: string;
  readonly onText: (text: string) => void;
  readonly rows?: number;
  /** What the server says of it. */
  readonly wrong?: string | undefined;
}) {
  const id = useId();
  const read = readJson(text);
  const mistake = read.ok ? wrong : read.mistake;
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      <textarea
        id={id}
        rows={rows}
        value={text}
        spellCheck={false}
        autoCapitalize="off"
        aria-invalid={mistake !== undefined}
        aria-describedby={`${id}-about`}
        onChange={(event) => onText(event.target.value)}
      />
      <div id={`${id}-about`} className={mistake === undefined ? "hint" : "wrong"}>
        {mistake ?? hint}
      </div>
    </div>
  );
}
