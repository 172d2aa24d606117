import { type Ending, endedStatus, type Next } from "../../model/boundary.ts";

export type { Ending } from "../../model/boundary.ts";

export function isEnding(next: Next): next is Ending {
  return endedStatus(next) !== null;
}
