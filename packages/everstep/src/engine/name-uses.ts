/**
 * One name in one place: the workflow function, or one start of a step's body. The n-th call under a name is its n-th use.
 * A refused call counts too: replay refuses it again, and the calls behind it keep their numbers.
 */
export class NameUse {
  /** Calls so far. */
  count = 0;
  /** Calls whose results author code has not received. */
  open = 0;
  /** The step that one of these calls came after, although that call was recorded earlier. */
  displacedBy: string | null = null;
}

/** The names one place has used. */
export class NameUses {
  readonly #uses = new Map<string, NameUse>();

  of(name: string): NameUse {
    let use = this.#uses.get(name);
    if (use === undefined) {
      use = new NameUse();
      this.#uses.set(name, use);
    }
    return use;
  }
}
