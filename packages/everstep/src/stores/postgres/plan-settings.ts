/**
 * How statements are planned on the store's connections. All of them look their rows up by key, so a plan is made once
 * and kept, as long as no other plan can seem cheaper: a table that is empty when a plan is made, and read from end to
 * end by it, may have a million rows a minute later.
 */
const settings: Readonly<Record<string, string>> = {
  plan_cache_mode: "force_generic_plan",
  enable_seqscan: "off",
  enable_mergejoin: "off",
  enable_hashjoin: "off",
  // A plan that cannot do without what is ruled out looks expensive enough to be compiled.
  jit: "off",
};

/** For a whole session. */
export const ownPlans: string = Object.entries(settings)
  .map(([name, value]) => `SET ${name} = ${value}`)
  .join("; ");

/** For the rest of a transaction: the author's statements are planned as anywhere else. */
export const authorsPlans: string = Object.keys(settings)
  .map((name) => `SET LOCAL ${name} TO DEFAULT`)
  .join("; ");

/** And the store's own behind them again. */
export const ownPlansAgain: string = Object.entries(settings)
  .map(([name, value]) => `SET LOCAL ${name} = ${value}`)
  .join("; ");
