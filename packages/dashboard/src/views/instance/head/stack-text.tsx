/** A stack, folded: the author's own frames, and those of others when they are asked for. */
import { useState } from "react";
import { framesOf } from "../../../words/common.ts";
import { counted } from "../../../words/numbers.ts";

export function StackText({ stack, isOpen = false }: { readonly stack: string; readonly isOpen?: boolean }) {
  const [isAll, setAll] = useState(false);
  const frames = framesOf(stack);
  const own = frames.filter(({ isOwn }) => isOwn);
  const others = frames.length - own.length;
  const isFolded = !isAll && own.length > 0 && others > 0;
  const shown = isFolded ? own : frames;
  if (frames.length === 0) return null;
  return (
    <details open={isOpen}>
      <summary className="small">Stack</summary>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard */}
      <section className="stack-text" tabIndex={0} aria-label="Stack">
        <pre className="mono">
          {shown.map(({ text, isOwn }, n) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: frames have no name, and the same may be there twice
            <span key={n} className={isOwn ? "own-frame" : "dim"}>
              {text}
              {"\n"}
            </span>
          ))}
        </pre>
        {isFolded && (
          <button type="button" className="quiet tiny" onClick={() => setAll(true)}>
            Show {counted(others, "frame")} of the engine and libraries
          </button>
        )}
      </section>
    </details>
  );
}
