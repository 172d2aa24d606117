import type { WireRunners } from "everstep/client";
import { CircleAlert, CircleCheck, CircleStop } from "lucide-react";
import { useSession } from "../../api/session.tsx";
import { useLoaded } from "../../api/use-loaded.ts";
import { Empty } from "../../parts/notice.tsx";
import { Panel } from "../../parts/panel.tsx";
import { Pending } from "../../parts/pending.tsx";
import { useNow } from "../../parts/use-now.ts";
import { When } from "../../parts/when.tsx";
import { Wide } from "../../parts/wide.tsx";
import { counted } from "../../words/numbers.ts";
import { runnerState } from "./runner-state.ts";

type Runner = WireRunners["runners"][number];

export function RunnersPanel() {
  const { client } = useSession();
  const { value, problem, reload } = useLoaded({
    name: "runners",
    load: (signal) => client.runners({ signal }),
    everyMs: 5000,
  });
  return (
    <Panel title="Runners" flush>
      <Pending isThere={value !== undefined} problem={problem} again={reload} rows={2} />
      {value?.length === 0 && (
        <Empty title="No runner has been seen.">
          <span>
            Instances are kept, but nobody takes their turns. Start one with <code>app.start()</code>.
          </span>
        </Empty>
      )}
      {value && value.length > 0 && (
        <Wide label="Runners">
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
              {value.map((runner) => (
                <Row key={runner.id} runner={runner} all={value} />
              ))}
            </tbody>
          </table>
        </Wide>
      )}
    </Panel>
  );
}

const looks = {
  running: { look: "is-complete", Icon: CircleCheck, title: "It tells that it lives." },
  silent: {
    look: "is-errored",
    Icon: CircleAlert,
    title: "Nothing was heard of it for a while. If it died, others go on with its instances.",
  },
  unheard: {
    look: "is-waiting",
    Icon: CircleAlert,
    title: "A heartbeat is missing. If it died, others go on with its instances.",
  },
  stopped: { look: "is-terminated", Icon: CircleStop, title: "It was stopped and gave back what it had." },
} as const;

const words = { running: "running", silent: "silent", unheard: "no heartbeat", stopped: "stopped" } as const;

/** More of them are only counted; their names show on hover. */
const workflowsShown = 4;

function Row({ runner, all }: { readonly runner: Runner; readonly all: readonly Runner[] }) {
  const now = useNow();
  const state = runnerState(runner, all, now);
  const { look, Icon, title } = looks[state];
  const place = [runner.host, runner.pid].filter((part) => part !== null).join(" / ");
  return (
    <tr>
      <td>
        <span className={`status ${look}`} title={title}>
          <Icon aria-hidden />
          {words[state]}
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
