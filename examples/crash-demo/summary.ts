/** The last words: what was proved, and what to do next. */
import { readFileSync } from "node:fs";
import { isAbsolute, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { styleText } from "node:util";
import type { Proof } from "./ledger.ts";
import { inSeconds } from "./progress.ts";

export interface Ending {
  readonly proof: Proof;
  readonly kills: number;
  readonly elapsedMs: number;
  readonly storeTitle: string;
  readonly leaseSeconds: number | null;
  /** Where things are, if they stay. */
  readonly kept: Kept | null;
}

export interface Kept {
  /** A file, or words where it is none. */
  readonly data: string;
  readonly effects: string;
}

export function summaryOf(ending: Ending): string[] {
  const { proof } = ending;
  const verdict = proof.faults.length === 0 ? proved(ending) : refuted(proof);
  return ["", ...verdict, "", ...next(ending), ""].map((line) => (line ? `  ${line}` : line));
}

function proved({ proof, kills, elapsedMs, storeTitle, leaseSeconds }: Ending): string[] {
  const { completed, effects, cutOff, repeated } = proof;
  const total = completed.do + completed.sleep + completed.waitForEvent;
  const kinds = [
    counted(completed.do, "body", "bodies"),
    counted(completed.sleep, "sleep"),
    counted(completed.waitForEvent, "event"),
  ];
  const cutOffBodies = cutOff === 0 ? "no body was" : cutOff === 1 ? "1 body was" : `${cutOff} bodies were`;
  const lines = [
    `${counted(total, "step")} completed (${kinds.join(", ")})`,
    `${counted(effects - repeated, "effect")} recorded once, no completed step ran twice`,
    `${cutOffBodies} cut off by a kill${cutOff === 0 ? "" : " and ran again"}`,
  ];
  // Any engine's body can die between its effect and its record; services that know the key do not repeat it.
  if (repeated > 0) lines.push(`${counted(repeated, "effect")} came twice: see ctx.idempotencyKey`);
  return [
    styleText("bold", `Survived ${counted(kills, "kill")} in ${inSeconds(elapsedMs)}`),
    "",
    ...lines.map((line) => `${styleText("green", "✔")} ${line}`),
    ...(cutOff > 0 && leaseSeconds !== null ? ["", ...whyThePause(storeTitle, leaseSeconds)] : []),
  ];
}

function whyThePause(storeTitle: string, leaseSeconds: number): string[] {
  return [
    `Why the pause: ${storeTitle} cannot know whether a silent worker is dead or far away.`,
    `Its lease had to end first: ${leaseSeconds} s here, 30 s by default. A worker that stops by`,
    "itself gives its lease back, and where processes can be asked a dead one is seen at once.",
  ].map((line) => styleText("dim", line));
}

function refuted({ faults }: Proof): string[] {
  return [
    styleText(["bold", "red"], "The proof failed"),
    "",
    ...faults.map((fault) => `${styleText("red", "✖")} ${fault}`),
  ];
}

function next({ kept, storeTitle }: Ending): string[] {
  const workflow = fileURLToPath(new URL("workflow.ts", import.meta.url));
  const lineCount = readFileSync(workflow, "utf8").trimEnd().split("\n").length;
  const hints = [
    [fromHere(workflow), `the workflow, ${lineCount} lines`],
    ["npm test", "check everything"],
    ["docs/", "read on"],
    ["npm run demo -- --help", "other stores, other kills, other speeds"],
    ...(kept ? [] : [["npm run demo -- --keep", "keep the data and what the bodies did"]]),
  ];
  const columns = Math.max(...hints.map(([what = ""]) => what.length));
  return [
    ...(kept ? [`The data in ${storeTitle} and what the bodies did:`, ...places(kept), ""] : []),
    styleText("bold", "Next"),
    ...hints.map(([what = "", why]) => `${styleText("cyan", what.padEnd(columns))}  ${why}`),
  ];
}

function places({ data, effects }: Kept): string[] {
  const shown = isAbsolute(data) ? fromHere(data) : data;
  return [shown, fromHere(effects)].map((place) => styleText("cyan", place));
}

function counted(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}

function fromHere(path: string): string {
  return relative(process.cwd(), path);
}
