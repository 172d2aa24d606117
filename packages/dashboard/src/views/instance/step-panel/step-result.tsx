/** What a step returned. The stream leaves it out: it is asked for when somebody looks. */
import type { WireRef, WireStep } from "everstep/client";
import { useId } from "react";
import { useSession } from "../../../api/session.tsx";
import { useLoaded } from "../../../api/use-loaded.ts";
import { JsonTree } from "../../../parts/json-tree.tsx";
import { ProblemNotice } from "../../../parts/notice.tsx";
import { Bone } from "../../../parts/skeleton.tsx";

export function StepResult({
  instance: { workflowName, instanceId },
  index,
  type,
  runNumber,
}: {
  readonly instance: WireRef;
  readonly index: number;
  readonly type: WireStep["type"];
  readonly runNumber: number;
}) {
  const id = useId();
  const { client } = useSession();
  const { value, problem, reload } = useLoaded({
    // A sleep has none.
    name: type === "sleep" ? null : `${workflowName}/${instanceId}/${runNumber}/${index}`,
    load: (signal) => client.workflow(workflowName).get(instanceId).step(index, { runNumber, signal }),
  });
  if (type === "sleep") return null;
  return (
    <section className="stack close" aria-labelledby={id}>
      <h3 id={id}>{type === "do" ? "Result" : "Received event"}</h3>
      {problem && <ProblemNotice problem={problem} again={reload} />}
      {value?.sensitive && <p className="dim">It is marked as sensitive and not shown.</p>}
      {value && !value.sensitive && <JsonTree value={value.result} what="the result" />}
      {!value && !problem && <Bone height={64} />}
    </section>
  );
}
