/** A question below the button that opened it, in place of a window over the page. */
import { type ReactNode, useEffect, useId, useRef } from "react";

export function InlineForm({
  title,
  confirm,
  isDanger = false,
  isBusy,
  onConfirm,
  onClose,
  children,
}: {
  readonly title: string;
  readonly confirm: string;
  readonly isDanger?: boolean;
  readonly isBusy: boolean;
  readonly onConfirm: () => void;
  readonly onClose: () => void;
  readonly children?: ReactNode;
}) {
  const id = useId();
  const form = useRef<HTMLFormElement>(null);
  useEffect(() => {
    form.current?.querySelector<HTMLElement>("input, select, textarea, button")?.focus();
  }, []);
  return (
    <form
      ref={form}
      className="inline-form"
      aria-labelledby={id}
      onSubmit={(event) => {
        event.preventDefault();
        onConfirm();
      }}
      onKeyDown={(event) => {
        if (event.key === "Escape") onClose();
      }}
    >
      <p id={id}>{title}</p>
      {children}
      <div className="buttons">
        <button type="submit" className={isDanger ? "danger" : "main-button"} disabled={isBusy}>
          {isBusy ? "One moment …" : confirm}
        </button>
        <button type="button" className="quiet" onClick={onClose}>
          Cancel
        </button>
      </div>
    </form>
  );
}
