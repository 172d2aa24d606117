/** Log lines of a run: the newest page at once, earlier ones when asked for, and those that follow. */
import type { LogsOptions, WireLogLine } from "everstep/client";
import { useCallback, useEffect, useRef, useState } from "react";
import { isAbort, type Problem, problemOf } from "../../../api/problem.ts";
import { useSession } from "../../../api/session.tsx";
import { isEnded } from "../../../words/statuses.ts";
import type { Live } from "../live.ts";
import { followLines } from "./follow-lines.ts";
import { isBefore, mergeLines, newest } from "./log-lines.ts";

export interface LogFilter {
  /** Null: the current one, and those that follow it. */
  readonly run: number | null;
  readonly level: LogsOptions["level"];
  readonly category: string | undefined;
  readonly isFollowing: boolean;
}

export interface LogState {
  readonly lines: readonly WireLogLine[] | null;
  readonly hasEarlier: boolean;
  readonly isLoadingEarlier: boolean;
  /** So many came that the oldest were let go. */
  readonly isCut: boolean;
  readonly problem: Problem | null;
  earlier(): void;
}

interface Kept {
  readonly name: string;
  readonly lines: readonly WireLogLine[] | null;
  readonly cursor: string | undefined;
  readonly isCut?: boolean;
  readonly problem: Problem | null;
}

const pageSize = 100;
const keptMax = 10_000;

export function useLogLines({ instance, address, value }: Live, filter: LogFilter): LogState {
  const { refused } = useSession();
  const { run, level, category, isFollowing } = filter;
  const name = JSON.stringify([address.workflowName, address.instanceId, run, level, category]);
  const nothing: Kept = { name, lines: null, cursor: undefined, problem: null };
  const [kept, setKept] = useState<Kept>(nothing);
  const [isLoadingEarlier, setLoadingEarlier] = useState(false);
  const current = kept.name === name ? kept : nothing;
  const isKnown = current.lines !== null;
  const latest = useRef(current);
  latest.current = current;

  const ask = useCallback(
    (more: LogsOptions) =>
      instance.logs({
        order: "desc",
        pageSize,
        ...(run === null ? {} : { runNumber: run }),
        ...(level === undefined ? {} : { level }),
        ...(category === undefined ? {} : { category }),
        ...more,
      }),
    [instance, run, level, category],
  );
  const fail = useCallback(
    (thrown: unknown): void => {
      if (isAbort(thrown)) return;
      const problem = problemOf(thrown);
      refused(problem);
      setKept((last) => ({
        ...(last.name === name ? last : { name, lines: null, cursor: undefined }),
        problem,
      }));
    },
    [name, refused],
  );

  useEffect(() => {
    const leaving = new AbortController();
    ask({ signal: leaving.signal })
      .then(({ logs, cursor }) => {
        if (!leaving.signal.aborted)
          setKept({ name, lines: mergeLines([], logs.toReversed()), cursor, problem: null });
      })
      .catch((thrown: unknown) => leaving.signal.aborted || fail(thrown));
    return () => leaving.abort();
  }, [ask, fail, name]);

  const isOver = useRef(false);
  isOver.current = isEnded(value.details.status);
  useEffect(() => {
    if (!isFollowing || !isKnown || run !== null) return;
    const leaving = new AbortController();
    const add = (more: readonly WireLogLine[]): void =>
      setKept((last) => {
        if (last.name !== name || !last.lines) return last;
        const { shown, left } = newest(mergeLines(last.lines, more), keptMax);
        return left === 0
          ? { ...last, lines: shown }
          : { ...last, lines: shown, cursor: undefined, isCut: true };
      });
    const wanted = {
      ...(level === undefined ? {} : { level }),
      ...(category === undefined ? {} : { category }),
    };
    const follower = {
      open: (signal: AbortSignal) => instance.followLogs({ ...wanted, signal }),
      newest: (cursor: string | undefined, signal: AbortSignal) =>
        ask(cursor === undefined ? { signal } : { cursor, signal }),
      isOver: () => isOver.current,
      isWanted: ({ id }: WireLogLine) => isNew(id, latest.current),
      last: () => latest.current.lines?.at(-1)?.id,
      add,
    };
    followLines(follower, leaving.signal).catch((thrown: unknown) => leaving.signal.aborted || fail(thrown));
    return () => leaving.abort();
  }, [instance, isFollowing, isKnown, run, level, category, name, ask, fail]);

  const earlier = (): void => {
    const { cursor } = current;
    if (cursor === undefined || isLoadingEarlier) return;
    setLoadingEarlier(true);
    ask({ cursor })
      .then((page) =>
        setKept((last) =>
          last.name === name && last.lines
            ? { ...last, lines: mergeLines(last.lines, page.logs), cursor: page.cursor }
            : last,
        ),
      )
      .catch(fail)
      .finally(() => setLoadingEarlier(false));
  };
  return {
    lines: current.lines,
    hasEarlier: current.cursor !== undefined,
    isLoadingEarlier,
    isCut: current.isCut ?? false,
    problem: current.problem,
    earlier,
  };
}

/** A stream begins with the first line of all; what is earlier than what is shown waits until it is asked for. */
function isNew(id: string, { lines, cursor, isCut = false }: Kept): boolean {
  const first = lines?.[0];
  const last = lines?.at(-1);
  if (!first || !last || isBefore(last.id, id)) return true;
  return isBefore(id, first.id) && cursor === undefined && !isCut;
}
