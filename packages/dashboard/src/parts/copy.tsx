import { Check, Copy } from "lucide-react";
import { useEffect, useState } from "react";

export function CopyButton({
  text,
  what,
}: {
  readonly text: string | (() => string);
  readonly what: string;
}) {
  const [isDone, setDone] = useState(false);
  useEffect(() => {
    if (!isDone) return;
    const timer = setTimeout(() => setDone(false), 1500);
    return () => clearTimeout(timer);
  }, [isDone]);
  const copy = async (): Promise<void> => {
    await writeText(typeof text === "string" ? text : text());
    setDone(true);
  };
  return (
    <button
      type="button"
      className="quiet tiny icon-only"
      onClick={() => void copy()}
      aria-label={isDone ? "Copied" : `Copy ${what}`}
      title={isDone ? "Copied" : `Copy ${what}`}
    >
      {isDone ? <Check aria-hidden /> : <Copy aria-hidden />}
    </button>
  );
}

/** Pages that are not served securely have no clipboard, but can still copy what is selected. */
async function writeText(text: string): Promise<void> {
  if (navigator.clipboard) return navigator.clipboard.writeText(text);
  const area = document.createElement("textarea");
  area.value = text;
  document.body.append(area);
  area.select();
  document.execCommand("copy");
  area.remove();
}

/** An id or another short text that people take elsewhere. */
export function Copyable({ text, what }: { readonly text: string; readonly what: string }) {
  return (
    <span className="copyable">
      <span className="mono" title={text}>
        {text}
      </span>
      <CopyButton text={text} what={what} />
    </span>
  );
}
