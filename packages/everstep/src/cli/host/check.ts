import type { App, CheckReport, ReplayClassification, ReplayFinding } from "../../index.ts";
import { defineCommand } from "../command.ts";
import { jsonDocument } from "../output/json-document.ts";
import { jsonOption } from "../output/json-option.ts";
import type { Output } from "../output/output.ts";
import { painted } from "../output/paint.ts";
import { writeTable } from "../output/table.ts";
import { CommandFailed } from "../problems.ts";
import { fileArgument, storeOption } from "./store-options.ts";
import { consoleAside } from "./user-file/console-aside.ts";
import { type Loaded, loadOrFail, openApp, withApp } from "./user-file/open-app.ts";

const harmless: readonly ReplayClassification[] = ["identical", "continues"];
const acceptable = ["reordered", "orphaned", "ends", "mismatch", "stuck", "unknown", "unreadable"] as const;
const shownMax = 50;
const findingsMax = 500;
const pageSize = 5000;

export const check = defineCommand({
  path: ["check"],
  group: "Host",
  summary: "hold new code against the histories of unfinished instances",
  description: [
    "Replays what is recorded of every unfinished instance against the workflows of the file and says what becomes of " +
      "each. No body runs and nothing is written. Code outside of steps does run.",
    "The exit code is 70 when an instance would not simply go on, so that a deploy can be stopped by it. What you have " +
      "looked at and found harmless is accepted with --allow.",
  ],
  arguments: [fileArgument],
  options: {
    "store-app": {
      placeholder: "<file>",
      suggests: "files",
      summary: "a file with the app whose store is looked at, where the new code has none",
    },
    ...storeOption,
    workflow: { summary: "instances of this workflow only" },
    allow: {
      placeholder: "<class>",
      repeat: true,
      choices: acceptable,
      summary: "accept instances of this class, may be repeated",
    },
    ...jsonOption,
  },
  examples: [
    { line: "check src/app.ts", about: "the app's own workflows against its own store" },
    {
      line: "check next/workflows.ts --store-app src/app.ts",
      about: "the next build against the store of this one",
    },
    { line: "check src/app.ts --allow reordered --allow orphaned", about: "accept what was looked at" },
  ],
  async run({ values, cwd, out }) {
    if (values.json) consoleAside();
    const loaded = await loadOrFail(cwd, values.file);
    const { app, workflows } = await subject(loaded, values.storeApp, values.store, cwd);
    const report = await withApp(app, async () => {
      await requireTables(app, values.storeApp ?? values.file);
      return checkAll(app, { ...workflows, ...only(values.workflow) });
    });
    const allowed = new Set<string>([...harmless, ...values.allow]);
    const broken = Object.entries(report.counts).filter(([name, count]) => count > 0 && !allowed.has(name));
    const ok = broken.length === 0;
    if (values.json) out.raw(jsonDocument({ ok, ...report }));
    else {
      write(report, allowed, out);
      writeVerdict(report.checked, broken, storeName(loaded, values), out);
    }
    return ok ? 0 : 70;
  },
});

/** A check writes nothing, so it makes no tables either. */
async function requireTables(app: App, file: string | undefined): Promise<void> {
  const { statements } = await app.migrate({ plan: true });
  if (statements.length === 0) return;
  throw new CommandFailed(
    "The store's tables are not there yet, or not up to date, and a check writes nothing.",
    `Make them first: everstep migrate ${file ?? "<file>"}`,
  );
}

type Code = Pick<NonNullable<Parameters<App["check"]>[0]>, "workflows" | "workflowName">;

interface Subject {
  /** Whose store is looked at. */
  readonly app: App;
  readonly workflows: Code;
}

async function subject(
  loaded: Loaded,
  storeApp: string | undefined,
  storePath: string | undefined,
  cwd: string,
): Promise<Subject> {
  if (storeApp === undefined) return { app: await openApp(cwd, loaded, storePath), workflows: {} };
  if (Object.keys(loaded.workflows).length === 0) {
    throw new CommandFailed(
      "The file exports an app but not the workflows in it, so they cannot be held against another store.",
      "Export the workflows too: export { order };",
    );
  }
  const { app } = await loadOrFail(cwd, storeApp);
  if (app) return { app, workflows: { workflows: loaded.workflows } };
  throw new CommandFailed(`${storeApp} exports no app, so it does not say which store is meant.`);
}

function only(workflowName: string | undefined): Code {
  return workflowName === undefined ? {} : { workflowName };
}

/** In parts, so that a large store is never in memory as a whole. */
async function checkAll(app: App, code: Code): Promise<Pick<CheckReport, "checked" | "counts" | "findings">> {
  let { checked, counts, findings, after } = await app.check({ ...code, limit: pageSize });
  while (after !== undefined) {
    const part = await app.check({ ...code, limit: pageSize, after });
    checked += part.checked;
    counts = added(counts, part.counts);
    findings = [...findings, ...part.findings].slice(0, findingsMax);
    after = part.after;
  }
  return { checked, counts, findings: findings.slice(0, findingsMax) };
}

type Counts = CheckReport["counts"];

function added(first: Counts, second: Counts): Counts {
  const names = Object.keys(first) as ReplayClassification[];
  return Object.fromEntries(names.map((name) => [name, first[name] + second[name]])) as Counts;
}

function write(
  { checked, counts, findings }: Pick<CheckReport, "checked" | "counts" | "findings">,
  allowed: ReadonlySet<string>,
  out: Output,
): void {
  if (checked === 0) return;
  const rows = Object.entries(counts).filter(([, count]) => count > 0);
  writeTable(
    [{ title: "class" }, { title: "instances", align: "right" }, { title: "" }],
    rows.map(([name, count]) => [
      { text: name, style: allowed.has(name) ? "green" : "red" },
      { text: String(count) },
      {
        text: harmless.includes(name as ReplayClassification)
          ? ""
          : allowed.has(name)
            ? "accepted"
            : "look at them",
      },
    ]),
    out,
  );
  const worth = findings.filter(({ classification }) => !harmless.includes(classification));
  for (const finding of worth.slice(0, shownMax)) writeFinding(finding, allowed, out);
  const hidden = worth.length - shownMax;
  if (hidden > 0) out.line("", painted("dim", `There are more; --workflow shows those of one workflow.`));
}

function writeVerdict(
  checked: number,
  broken: readonly (readonly [string, number])[],
  store: string,
  out: Output,
): void {
  const bad = broken.reduce((sum, [, count]) => sum + count, 0);
  if (checked > 0) out.line();
  if (checked === 0)
    out.line(`There are no unfinished instances in ${store}: nothing stands against this code.`);
  else if (bad === 0) out.line(painted("green", "✓"), ` The code may be deployed: it fits ${store}.`);
  else
    out.line(
      painted("red", "✗"),
      ` Do not deploy yet: ${bad} of ${checked} in ${store} would not simply go on.`,
    );
}

/** For people: which store was looked at. */
function storeName(
  { app }: Loaded,
  values: { readonly [Name in "file" | "storeApp" | "store"]?: string | undefined },
): string {
  if (values.storeApp !== undefined) return `the store of ${values.storeApp}`;
  if (values.store !== undefined) return values.store;
  return app ? `the store of ${values.file}` : "the store of everstep dev";
}

function writeFinding(finding: ReplayFinding, allowed: ReadonlySet<string>, out: Output): void {
  const { workflowName, instanceId, runNumber, classification, message } = finding;
  const run = runNumber === 1 ? "" : `, run ${runNumber}`;
  out.line();
  out.line(
    painted("bold", `${workflowName} ${instanceId}${run}`),
    "  ",
    painted(allowed.has(classification) ? "green" : "red", classification),
  );
  out.line("  ", message);
}
