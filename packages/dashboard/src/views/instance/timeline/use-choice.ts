/** Which rows are shown, as the address says. */
import { useCallback, useMemo, useRef } from "react";
import { useQuery } from "../../../use-query.ts";
import type { Choice, Row } from "./rows.ts";

export interface ChoiceChange {
  readonly find?: string;
  readonly isCompletedHidden?: boolean;
}

export function useChoice(rows: readonly Row[]) {
  const query = useQuery();
  const find = query.get("findStep") ?? "";
  const isCompletedHidden = query.get("hide") === "completed";
  const fold = query.get("fold") ?? "";
  const choice = useMemo((): Choice => {
    const indexes = new Set(fold.split("."));
    const folded = rows.filter(({ step }) => step && indexes.has(String(step.index)));
    return { find, isCompletedHidden, folded: new Set(folded.map(({ key }) => key)) };
  }, [rows, find, isCompletedHidden, fold]);

  const latest = useRef(query);
  latest.current = query;
  const toggle = useCallback((index: number) => {
    const last = (latest.current.get("fold") ?? "").split(".").filter(Boolean);
    const next = last.includes(String(index))
      ? last.filter((each) => each !== String(index))
      : [...last, String(index)];
    latest.current.set({ fold: next.join(".") });
  }, []);
  const setChoice = useCallback((change: ChoiceChange) => {
    latest.current.set({
      ...(change.find === undefined ? {} : { findStep: change.find }),
      ...(change.isCompletedHidden === undefined
        ? {}
        : { hide: change.isCompletedHidden ? "completed" : null }),
    });
  }, []);
  return { choice, fold: toggle, setChoice };
}
