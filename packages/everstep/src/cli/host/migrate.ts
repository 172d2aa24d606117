import type { App } from "../../index.ts";
import { defineCommand } from "../command.ts";
import { jsonDocument } from "../output/json-document.ts";
import { jsonOption } from "../output/json-option.ts";
import type { Output } from "../output/output.ts";
import { counted } from "./counted.ts";
import { fileArgument, storeOption } from "./store-options.ts";
import { consoleAside } from "./user-file/console-aside.ts";
import { loadOrFail, openApp, withApp } from "./user-file/open-app.ts";

export const migrate = defineCommand({
  path: ["migrate"],
  group: "Host",
  summary: "bring the tables of an app's store up to date",
  description: [
    "Loads the file and migrates the store of its app. Processes do the same when they start; where their database user " +
      "may not change tables, or where the statements shall be read first, do it with this command before a deploy.",
  ],
  arguments: [fileArgument],
  options: {
    plan: { type: "flag", summary: "change nothing, print the statements that would run" },
    ...jsonOption,
    ...storeOption,
  },
  examples: [
    { line: "migrate src/app.ts", about: "migrate the store of the app" },
    { line: "migrate src/app.ts --plan", about: "read what it would do first" },
  ],
  async run({ values, cwd, out }) {
    if (values.json) consoleAside();
    const loaded = await loadOrFail(cwd, values.file);
    const app = await openApp(cwd, loaded, values.store);
    if (values.json) {
      const { from, to, statements } = await withApp(app, () => app.migrate({ plan: values.plan }));
      return out.raw(jsonDocument({ from, to, statements }));
    }
    await withApp(app, () => (values.plan ? writePlan(app, out) : runMigration(app, out)));
  },
});

/** Text that can be given to the database; everything else in it is a comment. */
async function writePlan(app: App, out: Output): Promise<void> {
  const { from, to, statements } = await app.migrate({ plan: true });
  if (statements.length === 0) {
    out.line(
      from === to
        ? `-- Nothing to do: version ${to}.`
        : `-- From version ${from} to ${to}, without statements.`,
    );
    return;
  }
  out.line(`-- From version ${from} to ${to}.`);
  for (const statement of statements) out.text(`${statement.trim().replace(/;$/, "")};`);
}

async function runMigration(app: App, out: Output): Promise<void> {
  const { from, to, statements } = await app.migrate();
  if (from === to) out.line(`Nothing to do: the tables are at version ${to}.`);
  else out.line(`Migrated from version ${from} to ${to} (${counted(statements.length, "statement")}).`);
}
