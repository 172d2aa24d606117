/** Randomness that repeats: the same seed gives the same numbers and ids in the same order. */
export interface SeededRandom {
  /** Uniform in [0, 1). */
  float(): number;
  /** In the shape of a version 4 UUID. */
  uuid(): string;
  /** `length` digits of base 36. */
  digits(length: number): string;
}

export function createSeededRandom(seed: number | string): SeededRandom {
  let state = hash(String(seed));
  const next = (): number => {
    // mulberry32: 32 bits of state, good enough to tell ids apart and to spread delays.
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return (mixed ^ (mixed >>> 14)) >>> 0;
  };
  const hex = (): string => next().toString(16).padStart(8, "0");
  return {
    float: () => next() / 2 ** 32,
    uuid: () => asUuid(hex() + hex() + hex() + hex()),
    digits: (length) => Array.from({ length }, () => (next() % 36).toString(36)).join(""),
  };
}

function asUuid(hex: string): string {
  const variant = "89ab"[Number.parseInt(hex.charAt(16), 16) % 4];
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20)}`;
}

/** FNV-1a: neighbouring seeds must not give neighbouring sequences. */
function hash(text: string): number {
  let value = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) value = Math.imul(value ^ text.charCodeAt(at), 0x01000193);
  return value;
}
