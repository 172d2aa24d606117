/** The checks of the doctor. Each only reads. */
import type { App, Runtime, VerifyReport, VerifyWarning } from "../../../index.ts";
import { timedOut, withTimeout } from "../../../model/with-timeout.ts";
import { neededNode, oldNode } from "../../needed-node.ts";
import { spokenDuration } from "../../output/time.ts";
import { counted } from "../counted.ts";
import type { Finding } from "./finding.ts";

export function nodeFinding(version: string): Finding {
  const subject = "node";
  if (oldNode(version) === null) return { level: "ok", subject, text: `Node ${version}.` };
  return {
    level: "fail",
    subject,
    text: `Node ${version} is older than ${neededNode}.`,
    advice: "Install Node 24.",
  };
}

/** Whether the store answers at all, and what its tables need. */
export async function storeFindings(app: App, runtime: Runtime): Promise<readonly Finding[]> {
  const began = runtime.monotonic();
  // Asked directly: the app itself would wait for a store that is out of reach.
  const asked = await answered(runtime, () => app.store.migrate({ plan: true }));
  if (asked.kind === "failed") {
    return [
      { level: "fail", subject: "store", text: asked.message, advice: "Nothing else could be looked at." },
    ];
  }
  const { from, to, statements } = asked.value;
  const took = spokenDuration(runtime.monotonic() - began);
  const reachable: Finding = { level: "ok", subject: "store", text: `It answers (${took}).` };
  const tables: Finding =
    statements.length === 0 && from === to
      ? { level: "ok", subject: "tables", text: `Version ${to}, up to date.` }
      : {
          level: "warn",
          subject: "tables",
          text: `Version ${from}; this code wants ${to} (${counted(statements.length, "statement")}).`,
          advice:
            'The next process that starts migrates them, or "everstep migrate" does; records are looked at after that.',
        };
  return [reachable, tables];
}

export async function settingsFindings({ store }: App): Promise<readonly Finding[]> {
  const subject = "settings";
  const warnings = (await store.warnings?.()) ?? [];
  if (warnings.length === 0) return [{ level: "ok", subject, text: "The store can keep what it promises." }];
  return warnings.map(({ code, message }) => ({ level: "fail", subject, text: `${code}: ${message}` }));
}

/** Half a minute of difference confuses people who compare logs; the engine goes by the store's time. */
const skewMsMax = 1000;

export async function clockFinding({ store }: App, runtime: Runtime): Promise<Finding> {
  const subject = "clock";
  if (!store.serverTime)
    return { level: "ok", subject, text: "The store has no clock of its own to compare with." };
  const before = runtime.now();
  const theirs = await store.serverTime();
  const skewMs = theirs - (before + runtime.now()) / 2;
  const size = spokenDuration(Math.abs(skewMs));
  if (Math.abs(skewMs) <= skewMsMax) return { level: "ok", subject, text: `${size} from the store's.` };
  return {
    level: "warn",
    subject,
    text: `This host's clock is ${size} ${skewMs > 0 ? "behind" : "ahead of"} the store's.`,
    advice:
      "Processes go by the store's time, but logs and your own code do not: set up time synchronization (NTP).",
  };
}

const sampleSize = 1000;

export async function workFindings(app: App): Promise<readonly Finding[]> {
  const report = await app.verify({ statuses: ["active", "waiting"], limit: sampleSize });
  const { warnings } = report;
  const strange = warnings.filter(({ kind }) => kind === "stranded");
  const stuck = warnings.filter(({ kind }) => kind !== "stranded");
  return [recordsFinding(report), stuckFinding(stuck), strangersFinding(strange)];
}

function recordsFinding({ ok, checked, violations, unreadable, complete }: VerifyReport): Finding {
  const subject = "records";
  const runs = counted(checked, "unfinished run");
  const sample = complete ? runs : `the first ${runs}`;
  if (ok) return { level: "ok", subject, text: `Nothing wrong with ${sample}.` };
  const [first] = violations;
  const example = first
    ? ` First: ${first.workflowName} ${first.instanceId}, ${first.invariant}. ${first.message}`
    : "";
  return {
    level: "fail",
    subject,
    text: `${counted(violations.length, "broken promise")} and ${counted(unreadable.length, "unreadable row")} in ${sample}.${example}`,
    advice: '"everstep verify" lists them.',
  };
}

function stuckFinding(warnings: readonly VerifyWarning[]): Finding {
  const subject = "stuck work";
  const [first] = warnings;
  if (!first) return { level: "ok", subject, text: "Everything that is due is taken care of." };
  const example = `${first.workflowName} ${first.instanceId} (${first.kind})`;
  return {
    level: "warn",
    subject,
    text: `${counted(warnings.length, "instance does", "instances do")} not get on: ${example}. ${first.message}`,
  };
}

function strangersFinding(warnings: readonly VerifyWarning[]): Finding {
  const subject = "workflows";
  const names = [...new Set(warnings.map(({ workflowName }) => workflowName))];
  if (names.length === 0)
    return { level: "ok", subject, text: "Every unfinished instance has its workflow in this code." };
  return {
    level: "warn",
    subject,
    text: `This code has no workflow ${names.map((name) => `"${name}"`).join(", ")}; ${counted(warnings.length, "unfinished instance waits", "unfinished instances wait")} for it.`,
    advice: "Register it somewhere, or terminate them.",
  };
}

const deadLettersMax = 1000;

export async function deadLettersFinding({ store }: App): Promise<Finding> {
  const subject = "dead letters";
  const { items, after } = await store.listInstances({
    deadLetter: true,
    limit: deadLettersMax,
    brief: true,
  });
  if (items.length === 0) return { level: "ok", subject, text: "None." };
  const count = counted(items.length, "instance was", "instances were");
  return {
    level: "warn",
    subject,
    text: `${after === undefined ? "" : "More than "}${count} given up on.`,
    advice: '"everstep dead-letters list" shows them, "everstep dead-letters retry" lets them go on.',
  };
}

const answerMsMax = 10_000;

type Answer<Value> =
  | { readonly kind: "answered"; readonly value: Value }
  | { readonly kind: "failed"; readonly message: string };

async function answered<Value>(runtime: Runtime, ask: () => Promise<Value>): Promise<Answer<Value>> {
  try {
    const value = await withTimeout(runtime, answerMsMax, ask());
    if (value !== timedOut) return { kind: "answered", value };
    return { kind: "failed", message: `The store did not answer within ${spokenDuration(answerMsMax)}.` };
  } catch (error) {
    return { kind: "failed", message: error instanceof Error ? error.message : String(error) };
  }
}
