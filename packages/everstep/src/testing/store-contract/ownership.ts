import type { Ownership, Store } from "../../store/index.ts";
import type { Case } from "./case.ts";
import { equal, isTrue } from "./check.ts";

/** That a process which died is found is shown by each store with real processes; here is what must not happen. */
export const ownershipCases: readonly Case[] = [
  {
    name: "an owner that is alive is never taken for dead",
    needs: "ownership",
    async run({ open }) {
      const ownership = ownershipOf(await open());
      const hold = await ownership.hold("alive");
      equal(await ownership.findDead(), [], "dead owners");
      await hold.release();
    },
  },
  {
    // Its leases were released when it stopped, and runs that wait lost nothing: there is nothing to take care of.
    name: "an owner that let go in an orderly way is not dead either",
    needs: "ownership",
    async run({ open }) {
      const ownership = ownershipOf(await open());
      const hold = await ownership.hold("stopped");
      await hold.release();
      equal(await ownership.findDead(), [], "dead owners");
      await (await ownership.hold("stopped")).release();
    },
  },
  {
    name: "burying an owner nobody has heard of is harmless",
    needs: "ownership",
    async run({ open }) {
      const ownership = ownershipOf(await open());
      await ownership.bury("nobody");
      equal(await ownership.findDead(), [], "dead owners");
    },
  },
];

function ownershipOf(store: Store): Ownership {
  isTrue(store.ownership !== undefined, "a store that has ownership must offer it");
  return store.ownership;
}
