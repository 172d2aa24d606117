/** What bodies wait at until a test lets them on. */
export class Gates {
  readonly #open = new Set<string>();
  readonly #waiting = new Map<string, () => void>();

  passed(name: string, signal: AbortSignal): Promise<void> {
    if (this.#open.has(name)) return Promise.resolve();
    return new Promise((resolve, reject) => {
      this.#waiting.set(name, resolve);
      signal.addEventListener("abort", () => reject(signal.reason), { once: true });
    });
  }

  open(name: string): void {
    this.#open.add(name);
    this.#waiting.get(name)?.();
  }
}
