/**
 * Holds the calls of processes on their way to the store, each until somebody says that it is its turn, so that calls of
 * several processes are applied in any order that one wants. At most one of them goes wrong.
 */
import { storeFailure } from "../../../packages/everstep/src/testing/faulty-store.ts";
import type { StoreCall } from "../../../packages/everstep/src/testing/intercept-store.ts";
import type { Member } from "../../../packages/everstep/src/testing/simulate/fleet.ts";
import { isWriting } from "../strikes.ts";

export type Mishandling =
  /** Not applied, and the caller hears so. */
  | "refused"
  /** Applied, but the caller hears only that nobody knows. */
  | "reply lost"
  /** The caller hears that nobody knows, and the call is still under way. */
  | "late";

export interface HeldCall {
  readonly member: Member;
  readonly call: StoreCall;
  /** Its caller has been answered. */
  isAnswered: boolean;
  /** It is on its way no more: applied, or lost. */
  isOver: boolean;
}

interface Held extends HeldCall {
  readonly apply: () => Promise<unknown>;
  readonly answer: (value: unknown) => void;
  readonly refuse: (error: unknown) => void;
}

export class Turnstile {
  readonly #held: Held[] = [];
  readonly #members = new Map<Member, "hold" | "pass" | "lose">();

  /** From now on its calls wait here (`hold`), go through, or are lost. */
  set(member: Member, how: "hold" | "pass" | "lose"): void {
    const isNew = !this.#members.has(member);
    this.#members.set(member, how);
    if (isNew) member.wire.planned = (call) => this.#planned(member, call);
  }

  /** Calls that wait, in the order in which they came. */
  get waiting(): readonly HeldCall[] {
    return this.#held.filter(({ isOver }) => !isOver);
  }

  /** Everything that ever waited. */
  get seen(): readonly HeldCall[] {
    return this.#held;
  }

  /** It is this call's turn. */
  async release(call: HeldCall, mishandling: Mishandling | null = null): Promise<void> {
    const held = call as Held;
    if (mishandling === "late" && !held.isAnswered) {
      held.isAnswered = true;
      return held.refuse(storeFailure("ambiguous"));
    }
    held.isOver = true;
    if (mishandling === "refused") return this.#refuse(held, "unavailable");
    try {
      const answer = await held.apply();
      if (mishandling === "reply lost") return this.#refuse(held, "ambiguous");
      if (!held.isAnswered) held.answer(answer);
    } catch (error) {
      if (!held.isAnswered) held.refuse(error);
    }
    held.isAnswered = true;
  }

  #refuse(held: Held, failure: "unavailable" | "ambiguous"): void {
    if (!held.isAnswered) held.refuse(storeFailure(failure));
    held.isAnswered = true;
  }

  #planned(member: Member, call: StoreCall) {
    switch (this.#members.get(member)) {
      case "hold":
        return (apply: () => Promise<unknown>) =>
          new Promise<unknown>((answer, refuse) => {
            this.#held.push({ member, call, apply, answer, refuse, isAnswered: false, isOver: false });
          });
      case "lose":
        return () => Promise.reject(storeFailure("unavailable"));
      default:
        return null;
    }
  }
}

/** How a call can go wrong here: what only reads is refused or not. */
export function mishandlingsOf({ call }: HeldCall): readonly Mishandling[] {
  return isWriting(call) ? ["refused", "reply lost", "late"] : ["refused"];
}
