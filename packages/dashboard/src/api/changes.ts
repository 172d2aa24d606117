/** What a person does on this page is seen on it at once: whoever asks from time to time asks again when something was done. */
const listeners = new Set<() => void>();

let count = 0;

/** How often something was done so far. */
export function changeCount(): number {
  return count;
}

export function tellChange(): void {
  count++;
  for (const each of [...listeners]) each();
}

/** Returns the way to hear no more of it. */
export function onChange(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
