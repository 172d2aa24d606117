import type { WireRunners } from "everstep/client";
import { CircleAlert, CircleCheck, CircleStop } from "lucide-react";
import { useSession } from "../../api/session.tsx";
import { useLoaded } from "../../api/use-loaded.ts";
import { Empty } from "../../parts/notice.tsx";
import { Panel } from "../../parts/panel.tsx";
import { Pending } from "../../parts/pending.tsx";
import { When } from "../../parts/when.tsx";
import { Wide } from "../../parts/wide.tsx";
import { counted } from "../../words/numbers.ts";

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
          <table className="plain">
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
                <Row key={runner.id} runner={runner} />
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
  stopped: { look: "is-terminated", Icon: CircleStop, title: "It was stopped and gave back what it had." },
} as const;

/** More of them are only counted; their names show on hover. */
const workflowsShown = 4;

function Row({ runner }: { readonly runner: Runner }) {
  const { look, Icon, title } = looks[runner.state];
  const place = [runner.host, runner.pid].filter((part) => part !== null).join(" / ");
  return (
    <tr>
      <td>
        <span className={`status ${look}`} title={title}>
          <Icon aria-hidden />
          {runner.state}
        </span>
      </td>
      <td>
        <span className="mono no-wrap" title={runner.id}>
          {place === "" ? runner.id.slice(0, 8) : place}
        </span>
        {runner.isHere && <span className="small dim no-wrap"> answers this page</span>}
      </td>
      <td className="number no-wrap">
        {runner.turns} of {runner.concurrency}
      </td>
      <td>
        <span className="no-wrap">
          <When at={runner.seenAt} />
        </span>
      </td>
      <td>
        <span className="no-wrap">
          <When at={runner.startedAt} />
        </span>
      </td>
      <td className="small" title={runner.workflows.join(", ")}>
        {runner.workflows.length > workflowsShown
          ? counted(runner.workflows.length, "workflow")
          : runner.workflows.join(", ")}
      </td>
    </tr>
  );
}
