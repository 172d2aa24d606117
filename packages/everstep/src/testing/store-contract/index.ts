export type {
  AuthorRows,
  CallerTransactions,
  Case,
  CaseContext,
  CaseGroup,
  Need,
  StoreUnderTest,
} from "./case.ts";
export type { TestRunner } from "./describe-store.ts";
export { describeStore } from "./describe-store.ts";
export { storePromises } from "./promises.ts";
