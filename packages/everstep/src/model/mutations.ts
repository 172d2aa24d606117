/**
 * The author's own writes, made in the transaction that records the step. Service calls run first, in order, then the
 * mutations, then the engine's rows. They may run again after a conflict, so they must only write through the handle.
 */
export interface Mutations {
  readonly serviceCalls: readonly Mutation[];
  readonly mutate: readonly Mutation[];
}

/** `db` is the store's transaction handle; its type depends on the store. */
// biome-ignore lint/suspicious/noExplicitAny: the handle's type belongs to the store, not to the engine
export type Mutation = (db: any) => unknown;
