import type { WireWhy } from "everstep/client";

/** What an instance waits for. */
export type Wait = Pick<WireWhy, "reason" | "waitsFor">;
