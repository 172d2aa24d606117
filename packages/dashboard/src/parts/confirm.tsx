import { type ReactNode, useState } from "react";

/** A button that asks once more, in its own place, before it does what cannot be undone. */
export function ConfirmButton({
  label,
  question,
  confirm,
  onConfirm,
  isBusy,
  icon,
  disabled = false,
  isSafe = false,
}: {
  readonly label: string;
  readonly question: string;
  readonly confirm: string;
  readonly onConfirm: () => void;
  readonly isBusy: boolean;
  readonly icon?: ReactNode;
  readonly disabled?: boolean;
  /** Nothing is lost by it, it is only much at once. */
  readonly isSafe?: boolean;
}) {
  const [isAsking, setAsking] = useState(false);
  const look = isSafe ? "" : "danger";
  if (!isAsking) {
    return (
      <button type="button" className={look} disabled={isBusy || disabled} onClick={() => setAsking(true)}>
        {icon}
        {label}
      </button>
    );
  }
  const close = (): void => setAsking(false);
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset would bring its own look
    <span
      className="buttons"
      role="group"
      aria-label={question}
      onKeyDown={(event) => {
        if (event.key === "Escape") close();
      }}
    >
      <span className="small">{question}</span>
      <button
        type="button"
        className={look}
        // biome-ignore lint/a11y/noAutofocus: it takes the place of the button that was just pressed
        autoFocus
        onClick={() => {
          close();
          onConfirm();
        }}
      >
        {confirm}
      </button>
      <button type="button" className="quiet" onClick={close}>
        Cancel
      </button>
    </span>
  );
}
