import type { LogsOptions } from "everstep/client";
import { useId, useMemo, useRef } from "react";
import { Empty, ProblemNotice } from "../../../parts/notice.tsx";
import { Bones } from "../../../parts/skeleton.tsx";
import { useQuery } from "../../../use-query.ts";
import { counted } from "../../../words/numbers.ts";
import { isEnded } from "../../../words/statuses.ts";
import { EarlierRunNotice } from "../earlier-run-notice.tsx";
import type { Live } from "../live.ts";
import { useWhichRun } from "../which-run.ts";
import { CategoryField } from "./category-field.tsx";
import { LogList } from "./log-list.tsx";
import { useLogLines } from "./use-log-lines.ts";

const levels = ["debug", "info", "warn", "error"] as const;

export function LogsTab({ live }: { readonly live: Live }) {
  const id = useId();
  const query = useQuery();
  const run = useWhichRun(live);
  const level: LogsOptions["level"] = levels.find((each) => each === query.get("level"));
  const category = query.get("category") ?? undefined;
  const hasEnded = run !== null || isEnded(live.value.details.status);
  const isFollowing = query.get("follow") !== "off";
  const showsReplay = query.get("replay") === "on";
  // What was not over when it was first seen is followed to its last line.
  const wasOpen = useRef(false);
  if (!hasEnded) wasOpen.current = true;
  const log = useLogLines(live, { run, level, category, isFollowing: isFollowing && wasOpen.current });
  const { lines } = log;
  const replayed = useMemo(() => lines?.filter(({ isReplay }) => isReplay).length ?? 0, [lines]);
  const shown = useMemo(
    () => (showsReplay ? lines : (lines?.filter(({ isReplay }) => !isReplay) ?? null)),
    [lines, showsReplay],
  );
  const isFiltered = level !== undefined || category !== undefined;
  return (
    <>
      {run !== null && <EarlierRunNotice run={run} current={live.value.meta.runNumber} />}
      <div className="log-bar">
        <div className="field">
          <label htmlFor={`${id}-level`}>Level</label>
          <select
            id={`${id}-level`}
            value={level ?? ""}
            onChange={(event) => query.set({ level: event.target.value })}
          >
            <option value="">All</option>
            {levels.map((each) => (
              <option key={each}>{each}</option>
            ))}
          </select>
        </div>
        <CategoryField
          category={category ?? ""}
          lines={lines ?? []}
          onCategory={(next) => query.set({ category: next })}
        />
        <label className="choice">
          <input
            type="checkbox"
            checked={showsReplay}
            onChange={() => query.set({ replay: showsReplay ? null : "on" })}
          />
          Lines of replays ({replayed})
        </label>
        {!hasEnded && (
          <label className="choice">
            <input
              type="checkbox"
              checked={isFollowing}
              onChange={() => query.set({ follow: isFollowing ? "off" : null })}
            />
            Follow
          </label>
        )}
        <span className="small dim end">{lines && counted(shown?.length ?? 0, "line")}</span>
      </div>
      {log.problem && <ProblemNotice problem={log.problem} />}
      {!shown && !log.problem && <Bones rows={8} />}
      {shown?.length === 0 && !log.hasEarlier && (
        <Empty title={isFiltered ? "No line fits." : "Nothing was logged."}>
          {isFiltered ? (
            <button type="button" onClick={() => query.set({ level: null, category: null })}>
              Show all lines
            </button>
          ) : (
            <p>
              Workflows write lines with <code>step.log.info("…")</code>.
            </p>
          )}
        </Empty>
      )}
      {shown && (shown.length > 0 || log.hasEarlier) && (
        <LogList key={JSON.stringify([run, level, category])} live={live} lines={shown} log={log} run={run} />
      )}
    </>
  );
}
