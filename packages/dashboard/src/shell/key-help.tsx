/** What the keys do, wherever one is: asked for with "?". */
import { Keyboard } from "lucide-react";
import { useEffect, useRef } from "react";
import { isTyping } from "./is-typing.ts";

const groups: readonly (readonly [string, readonly (readonly [readonly string[], string])[]])[] = [
  [
    "Everywhere",
    [
      [["/"], "find an instance by its id"],
      [["?"], "show this"],
    ],
  ],
  [
    "List of instances",
    [
      [["j", "k"], "next and previous (or the arrows)"],
      [["Enter"], "open"],
      [["x"], "select (or Space); with Shift a range"],
    ],
  ],
  [
    "Timeline",
    [
      [["↑", "↓"], "next and previous step"],
      [["Enter"], "open the step"],
      [["Esc"], "close it"],
      [["+", "-", "0"], "zoom in, out, show all"],
      [["←", "→"], "pan, or fold and unfold"],
    ],
  ],
  ["Charts", [[["←", "→"], "read bar after bar"]]],
];

export function KeyHelp() {
  const dialog = useRef<HTMLDialogElement>(null);
  const open = (): void => {
    if (!dialog.current?.open) dialog.current?.showModal();
  };
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (event.key !== "?" || isTyping(event)) return;
      event.preventDefault();
      open();
    };
    document.addEventListener("keydown", onKey);
    return () => document.removeEventListener("keydown", onKey);
  });
  return (
    <>
      <button
        type="button"
        className="quiet tiny icon-only key-button"
        onClick={open}
        aria-label="Keyboard shortcuts"
        title="Keyboard shortcuts (?)"
      >
        <Keyboard aria-hidden />
      </button>
      <dialog ref={dialog} className="key-help" aria-labelledby="key-help-title">
        <div className="head">
          <h2 id="key-help-title">Keyboard shortcuts</h2>
          <button type="button" className="quiet tiny end" onClick={() => dialog.current?.close()}>
            Close
          </button>
        </div>
        {groups.map(([title, keys]) => (
          <section key={title} className="stack close">
            <h3>{title}</h3>
            <dl>
              {keys.map(([names, does]) => (
                <div key={does}>
                  <dt>
                    {names.map((name) => (
                      <kbd key={name}>{name}</kbd>
                    ))}
                  </dt>
                  <dd>{does}</dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
      </dialog>
    </>
  );
}
