/** Every way in which one call to the store can go wrong, and who is there afterwards. */
import { storeFailure } from "../../packages/everstep/src/testing/faulty-store.ts";
import type { StoreCall } from "../../packages/everstep/src/testing/intercept-store.ts";
import type { Fleet, Member } from "../../packages/everstep/src/testing/simulate/fleet.ts";
import type { Course } from "../../packages/everstep/src/testing/simulate/wire.ts";
import type { World } from "../../packages/everstep/src/testing/simulate/world.ts";

export interface StrikeSite {
  readonly world: World;
  readonly fleet: Fleet;
  readonly member: Member;
  readonly leaseMs: number;
}

export interface Strike {
  readonly name: string;
  /** error: the caller lives and hears of it. crash: it dies. freeze: it stands still until its leases are over. */
  readonly kind: "error" | "crash" | "freeze";
  /** Whether a call that only reads can go wrong in this way. */
  readonly alsoReads: boolean;
  /** Until when it has an effect of its own, in leases. */
  readonly lasts: number;
  course(site: StrikeSite): Course;
}

const never = (): Promise<never> => new Promise(() => {});
const quietly = (apply: () => Promise<unknown>): Promise<unknown> => apply().catch(() => {});

/** How long a process stands still, and how much later a call arrives that nobody waits for any more: in leases. */
const longer = 1.4;

export const strikes: readonly Strike[] = [
  {
    name: "refused",
    kind: "error",
    alsoReads: true,
    lasts: 0,
    course: () => () => Promise.reject(storeFailure("unavailable")),
  },
  {
    name: "contended",
    kind: "error",
    alsoReads: false,
    lasts: 0,
    course: () => () => Promise.reject(storeFailure("conflict")),
  },
  {
    name: "reply lost",
    kind: "error",
    alsoReads: false,
    lasts: 0,
    course: () => async (apply) => {
      await quietly(apply);
      throw storeFailure("ambiguous");
    },
  },
  {
    name: "late",
    kind: "error",
    alsoReads: false,
    lasts: longer,
    course:
      ({ world, leaseMs }) =>
      async (apply) => {
        world.after(longer * leaseMs, () => void quietly(apply));
        await world.sleep(1);
        throw storeFailure("ambiguous");
      },
  },
  {
    name: "crash before",
    kind: "crash",
    alsoReads: true,
    lasts: 0,
    course:
      ({ fleet, member }) =>
      () => {
        fleet.kill(member);
        return never();
      },
  },
  {
    name: "crash after",
    kind: "crash",
    alsoReads: false,
    lasts: 0,
    course:
      ({ fleet, member }) =>
      async (apply) => {
        await quietly(apply);
        fleet.kill(member);
        return never();
      },
  },
  {
    name: "crash, and late",
    kind: "crash",
    alsoReads: false,
    lasts: longer,
    course:
      ({ world, fleet, member, leaseMs }) =>
      (apply) => {
        fleet.kill(member);
        world.after(longer * leaseMs, () => void quietly(apply));
        return never();
      },
  },
  {
    name: "freeze before",
    kind: "freeze",
    alsoReads: false,
    lasts: longer,
    course:
      ({ world, fleet, member, leaseMs }) =>
      async (apply) => {
        fleet.freeze(member, longer * leaseMs);
        await world.sleep(longer * leaseMs);
        return apply();
      },
  },
  {
    name: "freeze after",
    kind: "freeze",
    alsoReads: true,
    lasts: longer,
    course:
      ({ fleet, member, leaseMs }) =>
      async (apply) => {
        const answer = await apply();
        fleet.freeze(member, longer * leaseMs);
        return answer;
      },
  },
];

export function strikeOf(name: string): Strike {
  const found = strikes.find((strike) => strike.name === name);
  if (!found) throw new Error(`No strike is called "${name}".`);
  return found;
}

/** Who is there afterwards. */
export type Aftermath = "alone" | "another" | "same name";

/** The same process, comes back where it died; another one at its side or in its place; one that has its name. */
export function aftermathsOf({ kind }: Strike): readonly Aftermath[] {
  return kind === "error" ? ["alone", "another"] : ["alone", "another", "same name"];
}

/** Puts somebody there, in the moment in which the strike falls. */
export function befall({ fleet, member }: StrikeSite, { kind }: Strike, aftermath: Aftermath): void {
  const { place } = member;
  const isCrash = kind === "crash";
  if (aftermath === "another") {
    if (isCrash) place.comesBack = false;
    fleet.place(`another ${place.name}`, { runs: place.runs });
  }
  // One that died comes back under its name by itself; one that only stands still has a double.
  if (aftermath === "same name" && !isCrash)
    fleet.place(`double of ${place.name}`, { runs: place.runs, owner: place.owner });
}

const writing: readonly StoreCall["method"][] = [
  "migrate",
  "write",
  "writeWithin",
  "claim",
  "renew",
  "release",
];

export function isWriting({ method }: StoreCall): boolean {
  return writing.includes(method);
}
