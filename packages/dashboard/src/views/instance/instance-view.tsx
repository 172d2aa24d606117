import type { WireRef } from "everstep/client";
import "../../look/instance.css";
import "../../look/instance-head.css";
import { useEffect } from "react";
import { Link } from "wouter";
import { ProblemNotice } from "../../parts/notice.tsx";
import { Bones } from "../../parts/skeleton.tsx";
import { useQuery } from "../../use-query.ts";
import { SaidProvider } from "./actions/said.tsx";
import { CrashDemo } from "./crash/crash-demo.tsx";
import { DataTab } from "./data-tab.tsx";
import { EventsTab } from "./events/events-tab.tsx";
import { FamilyTab } from "./family/family-tab.tsx";
import { InstanceHead } from "./head/instance-head.tsx";
import { type Live, useLive } from "./live.ts";
import { LogsTab } from "./logs/logs-tab.tsx";
import { MissingInstance } from "./missing-instance.tsx";
import { RunTimeline } from "./run-timeline.tsx";
import { RunsTab } from "./runs/runs-tab.tsx";

export default function InstanceView(address: WireRef) {
  const { live, problem, isStale } = useLive(address);
  useTitle(live ? `${address.instanceId} ${live.value.details.status}` : address.instanceId);
  if (live) {
    return (
      <SaidProvider>
        {problem && <ProblemNotice problem={problem} />}
        <InstanceHead live={live} />
        <CrashDemo live={live} />
        <Tabs live={live} />
      </SaidProvider>
    );
  }
  if (problem) return <MissingInstance address={address} problem={problem} />;
  return (
    <>
      <h1 className="mono instance-id">{address.instanceId}</h1>
      {isStale && <p className="dim">The server is out of reach. Trying again …</p>}
      <Bones rows={8} />
    </>
  );
}

const tabs = [
  ["timeline", "Timeline"],
  ["events", "Events"],
  ["logs", "Logs"],
  ["data", "Data"],
  ["runs", "Runs"],
  ["family", "Family"],
] as const;

/** What a tab leaves behind in the address is of no use to the next. */
const ofOneTab = { step: null, run: null, with: null, level: null, category: null, replay: null, type: null };

function Tabs({ live }: { readonly live: Live }) {
  const query = useQuery();
  const asked = query.get("tab");
  const [current] = tabs.find(([name]) => name === asked) ?? tabs[0];
  return (
    <>
      <nav className="tabs" aria-label="Of this instance">
        {tabs.map(([name, title]) => (
          <Link
            key={name}
            href={query.href({ ...ofOneTab, tab: name === "timeline" ? null : name })}
            aria-current={name === current ? "page" : undefined}
          >
            {title}
          </Link>
        ))}
      </nav>
      {current === "timeline" && <TimelineTab live={live} />}
      {current === "events" && <EventsTab live={live} />}
      {current === "logs" && <LogsTab live={live} />}
      {current === "data" && <DataTab live={live} />}
      {current === "runs" && <RunsTab live={live} />}
      {current === "family" && <FamilyTab live={live} />}
    </>
  );
}

function TimelineTab({ live }: { readonly live: Live }) {
  const { steps, running, meta, details } = live.value;
  return <RunTimeline live={live} run={{ steps, running, meta, status: details.status }} />;
}

/** The title of the browser's tab while this is looked at. */
function useTitle(title: string): void {
  useEffect(() => {
    const before = document.title;
    return () => {
      document.title = before;
    };
  }, []);
  useEffect(() => {
    document.title = `${title} · everstep`;
  }, [title]);
}
