import type { Ownership } from "../store/store.ts";
import type { FakeRuntime } from "./fake-runtime.ts";

/** Asking who lives takes a while in the world outside: the same, and `settle` waits for the answers. */
export function trackedOwnership(ownership: Ownership, runtime: FakeRuntime): Ownership {
  return {
    async hold(owner) {
      const held = await runtime.track(ownership.hold(owner));
      return { release: () => runtime.track(held.release()) };
    },
    findDead: () => runtime.track(ownership.findDead()),
    bury: (owner) => runtime.track(ownership.bury(owner)),
  };
}
