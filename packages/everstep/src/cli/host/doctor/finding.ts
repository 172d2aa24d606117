/** What one check of the doctor comes to. */
import type { Output } from "../../output/output.ts";
import { painted, type Style } from "../../output/paint.ts";

export interface Finding {
  readonly level: "ok" | "warn" | "fail";
  /** What was looked at: one or two words. */
  readonly subject: string;
  readonly text: string;
  readonly advice?: string;
}

const styles: Readonly<Record<Finding["level"], Style>> = { ok: "green", warn: "yellow", fail: "red" };
const subjectWidth = 13;

export function writeFinding({ level, subject, text, advice }: Finding, out: Output): void {
  const told = advice === undefined ? text : `${text} ${advice}`;
  out.line(painted(styles[level], level.padEnd(4)), "  ", subject.padEnd(subjectWidth), "  ", told);
}
