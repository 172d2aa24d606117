/** What a store can do beyond the contract's core; what it lacks is said with the reason. */
export interface StoreCapabilities {
  /** Survives the end of the process. */
  readonly durable: Capability;
  /** Several processes may share it. */
  readonly shared: Capability;
  /** `tx.mutate` and `tx.serviceCalls`: the author's writes in the step's own transaction. */
  readonly mutations: Capability;
  /** `create` and `sendEvent` inside a transaction of the caller's own. */
  readonly transactions: Capability;
  /** Tells other processes at once that something became due. */
  readonly nudges: Capability;
  /** Recognises a dead owner at once, without waiting for its leases to run out. */
  readonly ownership: Capability;
}

export type Capability = { readonly has: true } | { readonly has: false; readonly why: string };

export const has: Capability = { has: true };

export function lacks(why: string): Capability {
  return { has: false, why };
}
