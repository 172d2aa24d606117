export type { Mutation, Mutations } from "../model/mutations.ts";
