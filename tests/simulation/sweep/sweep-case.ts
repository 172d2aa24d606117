/** What a sweep goes through: every call of a program to the store, every way in which it can go wrong. */
import type { App } from "../../../packages/everstep/src/client/app.ts";
import type { Claim } from "../../../packages/everstep/src/model/lease.ts";
import type { StoreCall } from "../../../packages/everstep/src/testing/intercept-store.ts";
import type { Finding } from "../../../packages/everstep/src/testing/simulate/finding.ts";
import type { Workflows } from "../../../packages/everstep/src/testing/simulate/fleet.ts";
import type { Explanation } from "../../../packages/everstep/src/verify/violation.ts";
import type { Site } from "../small-world/small-world.ts";
import type { Upshot } from "../small-world/upshot.ts";
import { type Aftermath, aftermathsOf, strikes } from "../strikes.ts";

export interface SweepProgram {
  readonly name: string;
  /** Ordinary workflow code. */
  readonly workflows: (site: Site) => Workflows;
  /** What its caller does. Whoever takes the place of one that died does it all again. */
  readonly calls: (caller: Caller) => Promise<unknown>;
  /** How its runs end when nothing goes wrong, by workflow/instance/run: all there are. */
  readonly comesTo: Readonly<Record<string, string>>;
  /** How often bodies begin then, by workflow/instance/run/step; once unless said. */
  readonly starts?: Readonly<Record<string, number>>;
  /** Bodies that begin once at most, whatever happens, by workflow/instance/run/step. */
  readonly onceAtMost?: readonly string[];
  /** Rows of the author's own that are there then. */
  readonly rows?: readonly string[];
  /** When the runner stops, and how long what it does may still take; it comes back at once. */
  readonly stops?: { readonly afterMs: number; readonly graceMs: number };
  /** How else runs may end, by workflow/instance/run, where a fault has a say in it. */
  readonly mayEnd?: Readonly<Record<string, readonly string[]>>;
  /** Runs that other calls cut off somewhere: how far they came is not compared. */
  readonly cutOff?: readonly string[];
  /** What its caller does that records do not show. */
  readonly explains?: readonly Explanation[];
  /** How much of its time a fault may cost again, beside leases and polls. */
  readonly againMs?: number;
}

export interface Caller {
  readonly app: App<Workflows>;
  /** It took the place of one that died in the middle of this. */
  readonly again: boolean;
  /** What other services know. */
  readonly outside: Map<string, unknown>;
  pause(ms: number): Promise<void>;
}

/**
 * apart: one process runs and keeps nothing in memory, another calls. nudged: the same, but it keeps suspended turns and
 * hears of what others wrote. together: one process does both.
 */
export type Layout = "apart" | "nudged" | "together";

export const layouts: readonly Layout[] = ["apart", "nudged", "together"];

export interface SweepCase {
  readonly layout: Layout;
  readonly whose: "runner" | "caller";
  /** Which of its calls goes wrong. */
  readonly at: number;
  /** What that call is, in words. */
  readonly call: string;
  readonly strike: string;
  readonly aftermath: Aftermath;
}

export interface SeenCall {
  readonly words: string;
  readonly writes: boolean;
  /** It found nothing to do. */
  readonly isIdle: boolean;
}

/** One world, from its beginning to its rest. */
export interface Swept {
  readonly finding: Finding | null;
  readonly upshot: Upshot;
  /** The author's own. */
  readonly rows: readonly string[];
  readonly calls: Readonly<Record<"runner" | "caller", readonly SeenCall[]>>;
  readonly elapsedMs: number;
  /** The same for the same case and code. */
  readonly hash: string;
  readonly trace: () => readonly string[];
}

export function nameOf({ layout, whose, at, call, strike, aftermath }: SweepCase): string {
  return `${layout}, ${whose} call ${at} (${call}), ${strike}, ${aftermath}`;
}

/** How often a call that finds nothing to do is struck: soon it is like the times before. */
const idleMax = 4;

/** Every call of a calm world, in every way. */
export function casesOf(layout: Layout, { calls }: Swept): readonly SweepCase[] {
  return (["runner", "caller"] as const).flatMap((whose) =>
    calls[whose].flatMap((call, at) => {
      const alike = calls[whose].slice(0, at).filter(({ words, isIdle }) => isIdle && words === call.words);
      return call.isIdle && alike.length >= idleMax ? [] : casesOfCall({ layout, whose, at }, call);
    }),
  );
}

function casesOfCall(
  where: Pick<SweepCase, "layout" | "whose" | "at">,
  { words: call, writes }: SeenCall,
): readonly SweepCase[] {
  return strikes
    .filter(({ alsoReads }) => alsoReads || writes)
    .flatMap((strike) => {
      // Nobody is there in a caller's place but who comes back.
      const aftermaths = where.whose === "caller" ? (["alone"] as const) : aftermathsOf(strike);
      return aftermaths.map((aftermath) => ({ ...where, call, strike: strike.name, aftermath }));
    });
}

export function callInWords({ method, verbs, requests }: StoreCall): string {
  if (method !== "write") return method;
  const next = requests.flatMap((request) => (request.kind === "commit" ? [request.boundary.next.kind] : []));
  return [...verbs.slice(1), ...next].join(" ");
}

export function isIdle({ method }: StoreCall, answer: unknown): boolean {
  if (method === "claim") return (answer as readonly Claim[]).length === 0;
  return method === "nextDueAt" || method === "renew";
}
