/** Any JSON, to be opened and closed. Everything is shown as text. */
import { ChevronDown, ChevronRight } from "lucide-react";
import { useMemo, useState } from "react";
import { counted, spokenBytes } from "../words/numbers.ts";
import { CopyButton } from "./copy.tsx";

/** More than this of a list are shown when somebody asks for them. */
const shownAtFirst = 100;
const textAtFirst = 2000;

export function JsonTree({ value, what }: { readonly value: unknown; readonly what: string }) {
  const text = useMemo(() => JSON.stringify(value, undefined, 2) ?? "undefined", [value]);
  const bytes = useMemo(() => new TextEncoder().encode(JSON.stringify(value) ?? "").length, [value]);
  return (
    <div className="json">
      <div className="json-head small dim">
        <span>{value === undefined ? "nothing" : spokenBytes(bytes)}</span>
        <CopyButton text={text} what={what} />
      </div>
      <div className="json-body mono">
        <Node value={value} depth={0} />
      </div>
    </div>
  );
}

function Node({
  name,
  value,
  depth,
}: {
  readonly name?: string;
  readonly value: unknown;
  readonly depth: number;
}) {
  if (typeof value !== "object" || value === null) {
    return (
      <div className="json-line">
        <Name name={name} />
        <Scalar value={value} />
      </div>
    );
  }
  return <Branch name={name} value={value} depth={depth} />;
}

function Branch({
  name,
  value,
  depth,
}: {
  readonly name: string | undefined;
  readonly value: object;
  readonly depth: number;
}) {
  const isList = Array.isArray(value);
  const entries = Object.entries(value);
  const [isOpen, setOpen] = useState(depth < 2 && entries.length <= 50);
  const [shown, setShown] = useState(shownAtFirst);
  const [open, close] = isList ? ["[", "]"] : ["{", "}"];
  if (entries.length === 0) {
    return (
      <div className="json-line">
        <Name name={name} />
        {open}
        {close}
      </div>
    );
  }
  return (
    <div>
      <div className="json-line">
        <button
          type="button"
          className="json-fold"
          aria-expanded={isOpen}
          aria-label={`${isOpen ? "Close" : "Open"} ${name ?? "all"}`}
          onClick={() => setOpen(!isOpen)}
        >
          {isOpen ? <ChevronDown aria-hidden /> : <ChevronRight aria-hidden />}
        </button>
        <Name name={name} />
        {open}
        {!isOpen && (
          <span className="dim">
            {" "}
            {counted(entries.length, isList ? "item" : "name")} {close}
          </span>
        )}
      </div>
      {isOpen && (
        <>
          <div className="json-inner">
            {entries.slice(0, shown).map(([key, each]) => (
              <Node key={key} {...(isList ? {} : { name: key })} value={each} depth={depth + 1} />
            ))}
            {entries.length > shown && (
              <button
                type="button"
                className="tiny quiet"
                onClick={() => setShown(shown + 10 * shownAtFirst)}
              >
                {counted(entries.length - shown, "more item")}
              </button>
            )}
          </div>
          <div className="json-line">{close}</div>
        </>
      )}
    </div>
  );
}

function Name({ name }: { readonly name: string | undefined }) {
  return name === undefined ? null : <span className="json-name">{name}: </span>;
}

function Scalar({ value }: { readonly value: unknown }) {
  const [isWhole, setWhole] = useState(false);
  if (typeof value !== "string") return <span className={`json-${typeof value}`}>{String(value)}</span>;
  const isLong = value.length > textAtFirst && !isWhole;
  return (
    <span className="json-string">
      {JSON.stringify(isLong ? value.slice(0, textAtFirst) : value)}
      {isLong && (
        <button type="button" className="tiny quiet" onClick={() => setWhole(true)}>
          {counted(value.length - textAtFirst, "more character")}
        </button>
      )}
    </span>
  );
}
