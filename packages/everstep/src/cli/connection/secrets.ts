/** What was sent to prove who calls, so that it is never repeated, whoever tries to. */
export class Secrets {
  readonly #texts = new Set<string>();

  /** The value of a header. */
  add(value: string): void {
    for (const text of [value, ...value.split(/\s+/)]) if (text.length >= lengthMin) this.#texts.add(text);
  }

  hide(text: string): string {
    // The longest first: one may be part of another.
    const known = [...this.#texts].sort((a, b) => b.length - a.length);
    return known.reduce((rest, secret) => rest.replaceAll(secret, "[hidden]"), text);
  }
}

/** Shorter ones stand in ordinary words. */
const lengthMin = 8;
