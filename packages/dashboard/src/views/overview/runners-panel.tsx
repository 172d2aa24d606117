import type { WireRunner } from "everstep/client";
import { CircleAlert, CircleCheck, CircleSlash, CircleStop } from "lucide-react";
import { useSession } from "../../api/session.tsx";
import { useLoaded } from "../../api/use-loaded.ts";
import { Empty } from "../../parts/notice.tsx";
import { Panel } from "../../parts/panel.tsx";
import { Pending } from "../../parts/pending.tsx";
import { useNow } from "../../parts/use-now.ts";
import { When } from "../../parts/when.tsx";
import { Wide } from "../../parts/wide.tsx";
import { counted, spokenNumber } from "../../words/numbers.ts";
import { isOver, type RunnerState, runnerState } from "./runner-state.ts";

export function RunnersPanel() {
  const { client } = useSession();
  const { value, problem, reload } = useLoaded({
    name: "runners",
    load: (signal) => client.runners({ signal }),
    everyMs: 5000,
  });
  const now = useNow();
  const all = (value ?? []).map((runner) => ({ runner, state: runnerState(runner, value ?? [], now) }));
  const current = all.filter(({ state }) => !isOver(state));
  const earlier = all.filter(({ state }) => isOver(state));
  return (
    <Panel title="Runners" flush>
      <Pending isThere={value !== undefined} problem={problem} again={reload} rows={2} />
      {value && current.length === 0 && (
        <Empty title={earlier.length === 0 ? "No runner has been seen." : "No runner runs now."}>
          <span>
            Instances are kept, but nobody takes their turns. Start one with <code>app.start()</code>.
          </span>
        </Empty>
      )}
      {current.length > 0 && <RunnerTable label="Runners" runners={current} />}
      {earlier.length > 0 && (
        <details className="earlier">
          <summary className="small">{spokenNumber(earlier.length)} earlier</summary>
          <RunnerTable label="Earlier runners" runners={earlier} />
        </details>
      )}
    </Panel>
  );
}

interface Shown {
  readonly runner: WireRunner;
  readonly state: RunnerState;
}

function RunnerTable({ label, runners }: { readonly label: string; readonly runners: readonly Shown[] }) {
  return (
    <Wide label={label}>
      <table className="plain cards">
        <thead>
          <tr>
            <th>State</th>
            <th>Process</th>
            <th className="number">Turns</th>
            <th>Last heartbeat</th>
            <th>Started</th>
            <th>Workflows</th>
          </tr>
        </thead>
        <tbody>
          {runners.map((shown) => (
            <Row key={shown.runner.id} {...shown} />
          ))}
        </tbody>
      </table>
    </Wide>
  );
}

const looks = {
  running: { look: "is-complete", Icon: CircleCheck, title: "It tells that it lives." },
  silent: {
    look: "is-errored",
    Icon: CircleAlert,
    title: "Nothing was heard of it for a while. If it died, others go on with its instances.",
  },
  doubted: {
    look: "is-waiting",
    Icon: CircleAlert,
    title:
      "Another was started in its place since then. If it lives, its next heartbeat comes within seconds.",
  },
  unheard: {
    look: "is-waiting",
    Icon: CircleAlert,
    title: "A heartbeat is missing. If it died, others go on with its instances.",
  },
  replaced: {
    look: "is-terminated",
    Icon: CircleSlash,
    title: "It was not heard of any more. Others go on with its instances.",
  },
  stopped: { look: "is-terminated", Icon: CircleStop, title: "It was stopped and gave back what it had." },
} as const;

const words = {
  running: "running",
  silent: "silent",
  doubted: "last seen",
  unheard: "no heartbeat",
  replaced: "gone",
  stopped: "stopped",
} as const;

/** More of them are only counted; their names show on hover. */
const workflowsShown = 4;

function Row({ runner, state }: Shown) {
  const { look, Icon, title } = looks[state];
  const place = [runner.host, runner.pid].filter((part) => part !== null).join(" / ");
  return (
    <tr>
      <td>
        <span className={`status ${look}`} title={title}>
          <Icon aria-hidden />
          {words[state]}
          {state === "doubted" && <When at={runner.seenAt} isShort />}
        </span>
      </td>
      <td data-label="Process">
        <span className="mono no-wrap" title={runner.id}>
          {place === "" ? runner.id.slice(0, 8) : place}
        </span>
        {runner.isHere && <span className="small dim no-wrap"> answers this page</span>}
      </td>
      <td className="number no-wrap" data-label="Turns">
        {runner.turns} of {runner.concurrency}
      </td>
      <td data-label="Last heartbeat">
        <span className={state === "unheard" || state === "silent" ? "no-wrap unheard" : "no-wrap"}>
          <When at={runner.seenAt} />
        </span>
      </td>
      <td data-label="Started">
        <span className="no-wrap">
          <When at={runner.startedAt} />
        </span>
      </td>
      <td className="small" data-label="Workflows" title={runner.workflows.join(", ")}>
        {runner.workflows.length > workflowsShown
          ? counted(runner.workflows.length, "workflow")
          : runner.workflows.join(", ")}
      </td>
    </tr>
  );
}
