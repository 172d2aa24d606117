import { readFile } from "node:fs/promises";
import { relative, resolve } from "node:path";
import {
  type HistoryDocument,
  type ReplayResult,
  replayHistory,
  type WorkflowDefinition,
} from "../../index.ts";
import { parseJson } from "../../model/json.ts";
import { defineCommand } from "../command.ts";
import { jsonDocument } from "../output/json-document.ts";
import { jsonOption } from "../output/json-option.ts";
import type { Output } from "../output/output.ts";
import { painted, type Style } from "../output/paint.ts";
import { CommandFailed, UsageError } from "../problems.ts";
import { consoleAside } from "./user-file/console-aside.ts";
import { type Loaded, loadOrFail } from "./user-file/open-app.ts";

export const replay = defineCommand({
  path: ["replay"],
  group: "Host",
  summary: "run an exported history against code, step by step and without a store",
  description: [
    'Takes a history that "everstep instances export" or instance.exportHistory() gave. Recorded steps answer from the ' +
      "history, in the recorded order, and no body runs. A history that has ended must end alike.",
    "The exit code is 70 when the code does not fit the history.",
  ],
  arguments: [
    { name: "history", suggests: "files", summary: "the exported history, a JSON file" },
    { name: "file", suggests: "files", summary: "the file that exports its workflow" },
  ],
  options: {
    patience: {
      type: "duration",
      summary: "how long code that does not come to rest is waited for (default 2s)",
    },
    ...jsonOption,
  },
  examples: [
    {
      line: "replay order-17.json src/workflows.ts",
      about: "does today's code still fit what happened then?",
    },
    { line: "replay order-17.json src/workflows.ts --patience 1h", about: "with time for a debugger" },
  ],
  async run({ values, cwd, out }) {
    const history = await readHistory(resolve(cwd, values.history), values.history);
    if (values.json) consoleAside();
    const loaded = await loadOrFail(cwd, values.file);
    const workflow = workflowOf(history, loaded, cwd);
    const options = values.patience === undefined ? {} : { patience: values.patience };
    const result = await replayHistory(history, workflow, options);
    const ok = isFit(result);
    if (values.json) out.raw(jsonDocument(documentOf(result, ok)));
    else write(history, result, out);
    return ok ? 0 : 70;
  },
});

function isFit({ classification }: Pick<ReplayResult, "classification">): boolean {
  return classification === "identical" || classification === "continues";
}

function documentOf({ finding, asked, output, error }: ReplayResult, ok: boolean): object {
  const thrown = error && { name: error.name, message: error.message };
  return { ok, ...finding, error: finding.error ?? thrown, asked, output };
}

async function readHistory(path: string, given: string): Promise<HistoryDocument> {
  let text: string;
  try {
    text = await readFile(path, "utf8");
  } catch (error) {
    throw new UsageError(`${given} cannot be read: ${(error as Error).message.replace(/\.$/, "")}.`);
  }
  try {
    return Object(parseJson(text));
  } catch (error) {
    throw new UsageError(
      `${given} is not JSON: ${(error as Error).message.replace(/\.$/, "")}.`,
      "Export one with: everstep instances export <workflow> <id> > history.json",
    );
  }
}

/** A history that does not say whose it is goes to the first one, and is refused there with the reason. */
function workflowOf(
  { workflowName }: HistoryDocument,
  { file, workflows, app }: Loaded,
  cwd: string,
): WorkflowDefinition {
  const all = Object.values(workflows);
  const found =
    all.find(({ name }) => name === workflowName) ?? (workflowName === undefined ? all[0] : undefined);
  if (found !== undefined) return found;
  const place = relative(cwd, file) || file;
  if (Object.values(app?.workflows ?? {}).some(({ name }) => name === workflowName)) {
    throw new CommandFailed(
      `${place} exports an app with "${workflowName}", but not the workflow itself.`,
      "Export it too.",
    );
  }
  const names = all.map(({ name }) => `"${name}"`).join(", ") || "none";
  throw new CommandFailed(
    `This is a history of workflow "${workflowName}"; the workflows of ${place} are ${names}.`,
    "Name the file that exports the workflow it belongs to.",
  );
}

const looks: Readonly<Record<string, readonly [string, Style, string]>> = {
  completed: ["✓", "green", "answered from the history"],
  errored: ["✗", "red", "failed, as in the history"],
  waiting: ["…", "yellow", "waits, as in the history"],
  new: ["+", "cyan", "new: the history has nothing of it"],
};

function write(
  history: HistoryDocument,
  { asked, finding, classification, error }: ReplayResult,
  out: Output,
): void {
  const { workflowName, instanceId, runNumber, steps, status } = history;
  out.line(
    painted("bold", `${workflowName} ${instanceId}`),
    `, run ${runNumber}, ${status}, ${steps.length} steps recorded`,
  );
  for (const { stepKey, type, recorded } of asked) {
    const [sign, style, words] = looks[recorded ?? "new"] ?? ["?", "dim", String(recorded)];
    out.line("  ", painted(style, sign), ` ${stepKey} `, painted("dim", `(${type}) ${words}`));
  }
  for (const stepKey of finding.unusedSteps) {
    out.line("  ", painted("red", "-"), ` ${stepKey} `, painted("dim", "recorded, and not asked for"));
  }
  if (error) out.line("  ", painted("red", `throws ${error.name}: ${error.message}`));
  out.line(painted(isFit({ classification }) ? "green" : "red", classification), `: ${finding.message}`);
}
