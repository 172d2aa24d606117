import { defineCommand } from "../command.ts";
import { jsonLine } from "../output/json-document.ts";
import type { Output } from "../output/output.ts";
import { painted, type Style } from "../output/paint.ts";
import { UsageError } from "../problems.ts";

export const verify = defineCommand({
  path: ["verify"],
  group: "Workflows and topics",
  summary: "audit the records of a live store: does everything hold that must hold?",
  description: [
    "Goes through the instances and judges each run by its records alone. Nothing is changed. A violation is something " +
      "that no run can come to; it exits with 70 then. A warning deserves a look.",
  ],
  connects: true,
  arguments: [
    { name: "workflow", asOption: true, optional: true, summary: "instances of this workflow only" },
  ],
  options: {
    limit: { type: "number", summary: "instances to go through at most; all when left out" },
    after: { placeholder: "<cursor>", summary: "go on where an audit with --limit ended" },
    sample: {
      placeholder: "<part>",
      summary: "only a part of them, drawn at random: 0.01 for one in a hundred",
    },
    history: { type: "flag", summary: "older runs of restarted instances too" },
    doubts: {
      type: "flag",
      summary: "also what is a violation unless something explains it that leaves no trace",
    },
    json: { type: "flag", summary: "as JSON, one report in each line, for programs" },
  },
  examples: [
    { line: "verify", about: "everything" },
    { line: "verify order --sample 0.01", about: "one in a hundred orders" },
  ],
  async run({ values, out, connect }) {
    const { workflow, limit, history, doubts } = values;
    const client = await connect();
    const request = {
      limit: limit ?? pageLimit,
      workflowName: workflow,
      sample: values.sample === undefined ? undefined : partOf(values.sample),
      history: history || undefined,
      doubts: doubts || undefined,
    };
    let ok = true;
    let after = values.after;
    do {
      const report = await client.verify({ ...request, after });
      ok &&= report.ok;
      after = report.after;
      if (values.json) {
        out.raw(jsonLine(report));
        continue;
      }
      for (const found of report.violations) writeFinding("red", found.invariant, found, out);
      for (const found of report.unreadable) writeFinding("red", "unreadable", found, out);
      for (const found of report.warnings) writeFinding("yellow", found.kind, found, out);
      out.line(report.summary);
    } while (after !== undefined && limit === undefined);
    if (after !== undefined && !values.json) out.line(painted("dim", `Go on with --after ${after}`));
    return ok ? 0 : 70;
  },
});

/** One answer's worth: the server shall not be busy with one request for long. */
const pageLimit = 1000;

interface Finding {
  readonly workflowName: string | null;
  readonly instanceId: string | null;
  readonly runNumber: number | null;
  readonly message: string;
}

function writeFinding(style: Style, kind: string, found: Finding, out: Output): void {
  const { workflowName, instanceId, runNumber, message } = found;
  const whose = workflowName === null ? "" : ` ${workflowName} ${instanceId} run ${runNumber}:`;
  out.line(painted(style, kind), `${whose} ${message}`);
}

function partOf(text: string): number {
  const part = Number(text);
  if (part > 0 && part <= 1) return part;
  throw new UsageError(`--sample is ${JSON.stringify(text)}; it must be a number above 0, and at most 1.`);
}
