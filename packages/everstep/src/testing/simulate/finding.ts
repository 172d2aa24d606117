/** A promise that was broken, in a simulation. The world ends with the first one. */
export interface Finding {
  /** INV-7, LIV-1, or what a user's own invariant is called. */
  readonly invariant: string;
  readonly message: string;
}

/** Thrown where going on makes no sense; the world ends with it. */
export class Broken extends Error {
  override readonly name = "Broken";
  readonly finding: Finding;

  constructor(finding: Finding) {
    super(`${finding.invariant}: ${finding.message}`);
    this.finding = finding;
  }
}

/** The same fault of other instances and times has the same signature: what shrinking must keep. */
export function signatureOf({ invariant, message }: Finding): string {
  return `${invariant}: ${message.replaceAll(/"[^"]*"|[\w-]+\/[\w-]+(\/\d+)?|\d+(\.\d+)*/g, "_")}`;
}
