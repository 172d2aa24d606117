export interface RepeatOptions {
  /** A call that is repeated with the same key has no further effect; for callers who may lose an answer. */
  readonly idempotencyKey?: string;
}

export interface SteeringOptions extends RepeatOptions {
  /** Who asks for it: a name or an address. The log of the run says so, in the category `operator`. */
  readonly actor?: string | undefined;
}
