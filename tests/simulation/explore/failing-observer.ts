import { type Observer, observerNames } from "../../../packages/everstep/src/model/observer.ts";

const failure = new Error("An observer failed.");

/** Listens to everything, and fails with all of it: nothing may come of that. */
export const failingObserver: Observer = Object.fromEntries(
  Object.keys(observerNames).map((name) => [
    name,
    () => {
      throw failure;
    },
  ]),
);
