import type { ReactNode } from "react";

/** What may be wider than the screen: it is scrolled by itself, with the keyboard too. */
export function Wide({ label, children }: { readonly label: string; readonly children: ReactNode }) {
  return (
    // biome-ignore lint/a11y/useSemanticElements: a section would be one more landmark
    // biome-ignore lint/a11y/noNoninteractiveTabindex: without it the keyboard could not scroll it
    <div className="scroll-x" role="group" aria-label={label} tabIndex={0}>
      {children}
    </div>
  );
}
