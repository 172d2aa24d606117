import type { RepeatOptions } from "../wire/options.ts";

export interface SteeringOptions extends RepeatOptions {
  /** Who asks for it: a name or an address. The log of the run says so, in the category `operator`. */
  readonly actor?: string | undefined;
}
