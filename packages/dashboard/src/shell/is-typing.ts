/** A key that is meant for a field, or for the browser. */
export function isTyping(event: KeyboardEvent): boolean {
  if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return true;
  const target = event.target as Element | null;
  return target?.closest?.("input:not([type=checkbox]), textarea, select, dialog[open]") != null;
}
