/** The builders of the store contract's suite, for scenarios that speak to a store directly. */
export * from "../../packages/everstep/src/testing/store-contract/given.ts";
