import { describe, expect, test } from "vitest";
import { ReportBuilder } from "./check-report.ts";
import { classifications, type ReplayClassification } from "./classification.ts";
import type { ReplayFinding } from "./finding.ts";

function finding(
  classification: ReplayClassification,
  uncheckedSteps: readonly string[] = [],
): ReplayFinding {
  const identity = { workflowName: "w", instanceId: "i", runNumber: 1, status: "waiting" } as const;
  const steps = { newSteps: [], unusedSteps: [], movedSteps: [], uncheckedSteps };
  return { ...identity, classification, message: "", ...steps };
}

function reportOf(...findings: readonly ReplayFinding[]) {
  const builder = new ReportBuilder(undefined);
  for (const each of findings) builder.add(each);
  builder.pageIsDone(undefined);
  return builder.build();
}

describe("a report", () => {
  test.each(classifications)("with an instance that is %s is fine only if that harms nobody", (each) => {
    expect(reportOf(finding("identical"), finding(each)).ok).toBe(["identical", "continues"].includes(each));
  });

  test("counts and says in one line what was found", () => {
    const report = reportOf(finding("identical"), finding("identical"), finding("mismatch"));
    expect(report).toMatchObject({
      checked: 3,
      counts: { identical: 2, mismatch: 1, stuck: 0 },
      complete: true,
    });
    expect(report.summary).toBe(
      "3 instances checked: 2 identical, 1 mismatch. Look at the findings before this code is deployed.",
    );
  });

  test("of nothing is fine", () => {
    expect(reportOf()).toMatchObject({
      ok: true,
      checked: 0,
      summary: expect.stringContaining("0 instances"),
    });
  });

  test("lists what is not identical, and what could not be checked", () => {
    const listed = reportOf(
      finding("identical"),
      finding("continues"),
      finding("identical", ["outer/inner"]),
    );
    expect(listed.findings.map(({ classification }) => classification)).toEqual(["continues", "identical"]);
  });

  test("that is not complete says where to go on", () => {
    const builder = new ReportBuilder(undefined);
    builder.pageIsDone("here");
    expect(builder.build()).toMatchObject({
      complete: false,
      after: "here",
      summary: expect.stringContaining("go on with after"),
    });
  });
});
