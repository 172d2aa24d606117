import type { App, Runtime } from "../../../index.ts";
import { defineCommand } from "../../command.ts";
import { jsonLine } from "../../output/json-document.ts";
import { jsonLinesOption } from "../../output/json-option.ts";
import { fileArgument, storeOption } from "../store-options.ts";
import { consoleAside } from "../user-file/console-aside.ts";
import { loadOrFail, openApp, withApp } from "../user-file/open-app.ts";
import {
  clockFinding,
  deadLettersFinding,
  nodeFinding,
  settingsFindings,
  storeFindings,
  workFindings,
} from "./checks.ts";
import { type Finding, writeFinding } from "./finding.ts";

export const doctor = defineCommand({
  path: ["doctor"],
  group: "Host",
  summary: "look for what is wrong with a host and its store",
  description: [
    "Checks Node, the store and its settings, the version of its tables, the clock, the records of unfinished instances, " +
      "work that does not get on, workflows that this code does not have, and dead letters. It only reads. One line per " +
      "check: ok, warn, or fail with what to do. The exit code is 70 when something fails.",
  ],
  arguments: [fileArgument],
  options: { ...storeOption, ...jsonLinesOption },
  examples: [
    { line: "doctor src/app.ts", about: "the app's store, and the host this runs on" },
    { line: "doctor workflows.ts", about: "the store of everstep dev in this folder" },
  ],
  async run({ values, cwd, out, runtime }) {
    if (values.json) consoleAside();
    const loaded = await loadOrFail(cwd, values.file);
    const app = await openApp(cwd, loaded, values.store);
    let hasFailed = false;
    await withApp(app, async () => {
      for await (const finding of findings(app, runtime)) {
        if (values.json) out.raw(jsonLine(finding));
        else writeFinding(finding, out);
        hasFailed ||= finding.level === "fail";
      }
    });
    return hasFailed ? 70 : 0;
  },
});

async function* findings(app: App, runtime: Runtime): AsyncGenerator<Finding> {
  yield nodeFinding(process.versions.node);
  const store = await storeFindings(app, runtime);
  yield* store;
  if (store.some(({ level }) => level === "fail")) return;
  yield* await settingsFindings(app);
  yield await clockFinding(app, runtime);
  const hasTables = store.every(({ level }) => level === "ok");
  if (!hasTables) return;
  yield* await workFindings(app);
  yield await deadLettersFinding(app);
}
