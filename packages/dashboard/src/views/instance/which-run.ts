/** The run that the address names; null for the current one. */
import { useQuery } from "../../use-query.ts";
import type { Live } from "./live.ts";

export function useWhichRun(live: Live): number | null {
  const asked = useQuery().get("run");
  if (asked === null || !/^[1-9]\d{0,8}$/.test(asked)) return null;
  return Number(asked) === live.value.meta.runNumber ? null : Number(asked);
}
