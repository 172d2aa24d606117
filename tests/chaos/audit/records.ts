/** What is recorded of each run, old ones too, judged by the audit that ships. */
import { type App, EverstepError } from "everstep";
import { pause } from "../time.ts";

type Audited = Pick<App, "verify">;

export async function auditRecords(app: Audited): Promise<string[]> {
  const found: string[] = [];
  let after: string | undefined;
  do {
    const report = await app.verify({ history: true, ...(after === undefined ? {} : { after }) });
    for (const { workflowName, instanceId, runNumber, invariant, message } of report.violations) {
      found.push(`${invariant} ${workflowName}/${instanceId}/${runNumber}: ${message}`);
    }
    for (const { workflowName, instanceId, runNumber, message } of report.unreadable) {
      found.push(`unreadable ${workflowName}/${instanceId}/${runNumber}: ${message}`);
    }
    after = report.after;
  } while (after !== undefined);
  return found;
}

/** The same again and again, while everything else goes on. Gives what was found at any time. */
export async function auditRecordsUntil(isOver: () => boolean, app: Audited): Promise<string[]> {
  const found = new Set<string>();
  while (!isOver()) {
    try {
      for (const each of await auditRecords(app)) found.add(each);
    } catch (problem) {
      // The store may be out of reach for longer than anybody waits.
      if (!(problem instanceof EverstepError)) throw problem;
      if (problem.code === "APP_STOPPED") break;
    }
    await pause(1000);
  }
  return [...found];
}
