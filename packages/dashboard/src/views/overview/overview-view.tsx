import "../../look/overview.css";
import { Link } from "wouter";
import { useSession } from "../../api/session.tsx";
import { useLoaded } from "../../api/use-loaded.ts";
import { links } from "../../links.ts";
import { Empty, Notice, ProblemNotice } from "../../parts/notice.tsx";
import { Bones } from "../../parts/skeleton.tsx";
import { ActivityPanel } from "./activity-panel.tsx";
import { Attention } from "./attention.tsx";
import { RunnersPanel } from "./runners-panel.tsx";
import { StatusTiles } from "./status-tiles.tsx";
import { StorePanel } from "./store-panel.tsx";

export function OverviewView() {
  const { client } = useSession();
  const { value, problem, reload } = useLoaded({
    name: "overview",
    load: (signal) => client.overview({ signal }),
    everyMs: 2000,
  });
  const isNew = value && Object.values(value.counts).every((count) => count === 0);
  return (
    <>
      <div className="head">
        <h1>Overview</h1>
        {value?.mayKill && <span className="small dim">development</span>}
      </div>
      {problem && <ProblemNotice problem={problem} again={reload} />}
      <StatusTiles overview={value} />
      {isNew && (
        <Notice action={<Link href={links.workflows}>Start one</Link>}>
          There is no instance yet. Choose a workflow, fill in its form, and watch its steps.
        </Notice>
      )}
      {value ? <Attention overview={value} /> : !problem && <div className="attention bones" />}
      <ActivityPanel />
      <RunnersPanel />
      {value && <StorePanel overview={value} />}
      {!value && !problem && <Bones rows={4} />}
      {!value && problem && (
        <Empty title="Nothing can be shown before the service answers.">
          It is asked again every two seconds.
        </Empty>
      )}
    </>
  );
}
