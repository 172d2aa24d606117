import type { WireStep } from "everstep/client";
import type { ReactNode } from "react";
import { Copyable } from "../../../parts/copy.tsx";
import { When } from "../../../parts/when.tsx";
import { headed, whenOver } from "../../../words/common.ts";
import { spokenDuration, spokenTime, timeOf } from "../../../words/time.ts";
import { attemptsText, startsText } from "./starts-text.ts";

const types: Readonly<Record<WireStep["type"], string>> = {
  do: "do",
  sleep: "sleep",
  waitForEvent: "waitForEvent",
};

export function StepFacts({ step }: { readonly step: WireStep }) {
  const isBody = step.type === "do";
  const cutOff = startsText(step);
  const took = step.settledAt === null ? null : timeOf(step.settledAt) - timeOf(step.createdAt);
  return (
    <dl className="facts">
      <Fact name="Key">
        <Copyable text={step.stepKey} what="the step key" />
      </Fact>
      <Fact name="Type">
        <code>{types[step.type]}</code>
      </Fact>
      {step.parentKey !== null && (
        <Fact name="Inside of">
          <Copyable text={step.parentKey} what="the key of the outer step" />
        </Fact>
      )}
      {step.waitEventType !== null && (
        <Fact name="Event type">
          <Copyable text={step.waitEventType} what="the event type" />
        </Fact>
      )}
      {step.topic !== null && (
        <Fact name="Topic">
          <Copyable text={step.topic} what="the topic" />
        </Fact>
      )}
      {isBody && <Fact name="Attempts">{attemptsText(step)}</Fact>}
      {isBody && (
        <Fact name="Starts">
          {step.starts}
          {cutOff && <p className="small dim">{cutOff}</p>}
        </Fact>
      )}
      {isBody && (
        <Fact name="Timeout">
          {step.timeoutMs === null ? "none" : `${spokenDuration(step.timeoutMs)} per attempt`}
        </Fact>
      )}
      <Fact name="Started">
        <Time at={step.createdAt} />
      </Fact>
      {step.settledAt !== null && (
        <Fact name={step.status === "errored" ? "Failed" : "Completed"}>
          <Time at={step.settledAt} />
        </Fact>
      )}
      {took !== null && <Fact name="Took">{spokenDuration(took)}</Fact>}
      {step.nextRetryAt !== null && (
        <Fact name={headed(whenOver.retry)}>
          <Time at={step.nextRetryAt} />
        </Fact>
      )}
      {step.wakeAt !== null && (
        <Fact name={headed(step.type === "sleep" ? whenOver.sleep : whenOver.event)}>
          <Time at={step.wakeAt} />
        </Fact>
      )}
    </dl>
  );
}

/** Exactly, since that is what a step is opened for; and how long ago. */
function Time({ at }: { readonly at: string }) {
  return (
    <>
      {spokenTime(timeOf(at))}{" "}
      <span className="dim small no-wrap">
        <When at={at} isShort />
      </span>
    </>
  );
}

function Fact({ name, children }: { readonly name: string; readonly children: ReactNode }) {
  return (
    <>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </>
  );
}
