/** A library for comparisons that cannot be opened. */
import type { Alternative, Open } from "../../bench/compare/alternative.ts";

export const alternative: Alternative = {
  name: "broken",
  title: "Broken",
  stores: ["sqlite"],
  packages: {},
  notes: [],
};

export const open: Open = async () => {
  throw new Error("it lacks a license");
};
