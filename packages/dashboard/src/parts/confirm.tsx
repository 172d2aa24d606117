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
  if (isAsking) {
    return <Confirm {...{ question, confirm, isSafe, onConfirm }} onClose={() => setAsking(false)} />;
  }
  const look = isSafe ? "" : "danger";
  return (
    <button type="button" className={look} disabled={isBusy || disabled} onClick={() => setAsking(true)}>
      {icon}
      {label}
    </button>
  );
}

/** The question itself, in the place of what asked for it. */
export function Confirm({
  question,
  confirm,
  isSafe,
  onConfirm,
  onClose,
}: {
  readonly question: string;
  readonly confirm: string;
  readonly isSafe: boolean;
  readonly onConfirm: () => void;
  readonly onClose: () => void;
}) {
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset would bring its own look
    <span
      className="buttons"
      role="group"
      aria-label={question}
      onKeyDown={(event) => {
        if (event.key === "Escape") onClose();
      }}
    >
      <strong>{question}</strong>
      <button
        type="button"
        className={isSafe ? "main-button" : "main-button danger"}
        // biome-ignore lint/a11y/noAutofocus: it takes the place of the button that was just pressed
        autoFocus
        onClick={() => {
          onClose();
          onConfirm();
        }}
      >
        {confirm}
      </button>
      <button type="button" className="quiet" onClick={onClose}>
        Cancel
      </button>
    </span>
  );
}
