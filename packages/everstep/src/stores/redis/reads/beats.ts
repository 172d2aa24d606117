/** Who runs, and how much gets done. */
import { parseJson } from "../../../model/json.ts";
import type { Beat, MinuteTally, RunnerRecord, TallyQuery } from "../../../store/store.ts";
import { tallySpan } from "../../../store/tally-span.ts";
import { beatScript, listRunnersScript, readTalliesScript } from "../scripts/index.ts";
import { Arguments, integer, list, type Reply, text, unreadable } from "../server/script-values.ts";
import type { Session } from "../server/session.ts";

// Redis does nothing else while a script runs.
const forgottenPerScript = 100;
const minutesPerScript = 1000;
/** A script hands a command's arguments over on its stack. */
const runnersMax = 5000;

export async function keep(session: Session, { runner, tallies, forgetBefore }: Beat): Promise<void> {
  const args = new Arguments()
    .add(forgetBefore, forgottenPerScript)
    .add(runner.owner, runner.seenAt, JSON.stringify(runner));
  args.each(tallies, ({ minute, workflowName, complete, errored, terminated, steps, failedAttempts }) =>
    args.add(minute, workflowName, complete, errored, terminated, steps, failedAttempts),
  );
  await session.run(beatScript, args.list, "writing");
}

export async function runners(session: Session, limit: number): Promise<readonly RunnerRecord[]> {
  const args = new Arguments().add(Math.min(limit, runnersMax));
  const replies = list(await session.run(listRunnersScript, args.list, "reading"));
  return replies
    .filter((reply) => reply !== null)
    .map(readRunner)
    .sort(seenLastFirst);
}

/** Those seen in the same moment by their owners, as in every store. */
function seenLastFirst(one: RunnerRecord, other: RunnerRecord): number {
  return other.seenAt - one.seenAt || (one.owner < other.owner ? -1 : 1);
}

function readRunner(reply: Reply): RunnerRecord {
  const json = text(reply);
  try {
    return parseJson(json);
  } catch (error) {
    throw unreadable("a runner", json, error);
  }
}

export async function tallies(session: Session, query: TallyQuery): Promise<readonly MinuteTally[]> {
  const { from, to } = tallySpan(query);
  const found: MinuteTally[] = [];
  let next = from;
  for (;;) {
    const args = new Arguments().add(next, to, minutesPerScript).text(query.workflowName);
    const rows = list(await session.run(readTalliesScript, args.list, "reading")).map(list);
    found.push(...rows.filter(([, seen]) => seen === "1").map(readMinute));
    const last = rows.at(-1);
    if (rows.length < minutesPerScript || last === undefined) return found;
    next = integer(last[0]) + 1;
  }
}

function readMinute([minute, , ...counts]: readonly Reply[]): MinuteTally {
  const [complete, errored, terminated, steps, failedAttempts] = counts.map((count) => integer(count)) as [
    number,
    number,
    number,
    number,
    number,
  ];
  return { minute: integer(minute), complete, errored, terminated, steps, failedAttempts };
}
