import type { WireActivity } from "everstep/client";
import { Link } from "wouter";
import { useSession } from "../../api/session.tsx";
import { useLoaded } from "../../api/use-loaded.ts";
import { ProblemNotice } from "../../parts/notice.tsx";
import { Panel } from "../../parts/panel.tsx";
import { Bone } from "../../parts/skeleton.tsx";
import { useQuery } from "../../use-query.ts";
import { counted, spokenNumber } from "../../words/numbers.ts";
import { endedWords, errorWords, spokenPercent } from "./activity-words.ts";
import { BarChart } from "./bar-chart.tsx";
import { endedPerMinute, errorRate, stepsPerMinute, totalsOf } from "./chart.ts";

const ranges = [
  { name: "1h", minutes: 60, words: "last hour" },
  { name: "6h", minutes: 360, words: "last 6 hours" },
  { name: "24h", minutes: 1440, words: "last 24 hours" },
  { name: "7d", minutes: 10_080, words: "last 7 days" },
] as const;

export function ActivityPanel() {
  const { client } = useSession();
  const query = useQuery();
  const range = ranges.find(({ name }) => name === query.get("range")) ?? ranges[0];
  const { value, problem, reload } = useLoaded({
    name: `activity ${range.minutes}`,
    load: (signal) => client.activity({ minutes: range.minutes, signal }),
    everyMs: 5000,
  });
  return (
    <Panel
      title="Activity"
      end={ranges.map(({ name, words }) => (
        <Link
          key={name}
          href={query.href({ range: name === ranges[0].name ? null : name })}
          replace
          className="button tiny choice"
          aria-current={name === range.name ? "true" : undefined}
          title={words}
        >
          {name}
        </Link>
      ))}
    >
      <div className="stack">
        {problem && <ProblemNotice problem={problem} again={reload} />}
        {value ? <Charts activity={value} words={range.words} /> : !problem && <ChartBones />}
      </div>
    </Panel>
  );
}

function Charts({ activity, words }: { readonly activity: WireActivity; readonly words: string }) {
  const totals = totalsOf(activity);
  const { steps, failedAttempts } = totals;
  return (
    <div className="charts">
      <BarChart
        title="Ended per minute"
        summary={endedWords(totals, words)}
        data={endedPerMinute(activity)}
        series={[
          { name: "complete", look: "is-complete" },
          { name: "terminated by a limit", look: "is-terminated" },
          { name: "errored", look: "is-errored" },
        ]}
        spoken={spokenRate}
      />
      <BarChart
        title="Error rate"
        summary={errorWords(totals, words)}
        data={errorRate(activity)}
        series={[{ name: "errored", look: "is-errored" }]}
        spoken={spokenPercent}
      />
      <BarChart
        title="Steps per minute"
        summary={`${counted(steps, "step")} settled, ${counted(failedAttempts, "attempt")} failed in the ${words}`}
        data={stepsPerMinute(activity)}
        series={[
          { name: "settled", look: "is-active" },
          { name: "failed attempts", look: "is-waiting" },
        ]}
        spoken={spokenRate}
      />
    </div>
  );
}

function ChartBones() {
  return (
    <div className="charts" aria-busy="true">
      {["a", "b", "c"].map((each) => (
        <div key={each} className="chart">
          <Bone height={194} />
        </div>
      ))}
    </div>
  );
}

function spokenRate(value: number): string {
  return spokenNumber(value >= 10 ? Math.round(value) : Math.round(value * 100) / 100);
}
