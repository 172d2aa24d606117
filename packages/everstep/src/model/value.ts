/**
 * A value as stores keep it: readable JSON, and beside it the marks for what JSON alone would lose
 * (Date, Map, BigInt, undefined, NaN, ...). `marks` is null for plain JSON.
 */
export interface EncodedValue {
  readonly json: string;
  readonly marks: string | null;
}

/** An error as stores keep it: bounded, plain, and safe to show. */
export interface StoredError {
  readonly name: string;
  readonly message: string;
  readonly code?: string;
  readonly stack?: string;
  readonly cause?: StoredError;
  /** Own properties the thrower set (status, retryAfter, ...), where they could be kept. */
  readonly properties?: EncodedValue;
}
