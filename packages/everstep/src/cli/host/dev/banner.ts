/** What `everstep dev` says when it begins. */
import { relative } from "node:path";
import type { Output } from "../../output/output.ts";
import { painted } from "../../output/paint.ts";

export interface BannerFacts {
  readonly url: string;
  /** null where there is none. */
  readonly dashboardUrl: string | null;
  /** The app's own hooks decide who may use it. */
  readonly asksItself: boolean;
  readonly file: string;
  readonly workflows: readonly string[];
  /** null: the app's own. */
  readonly storePath: string | null;
  readonly cwd: string;
  readonly pid: number;
  /** How this program is called here. */
  readonly program: string;
}

const skipping = "--skip-authorize asks for a token of dev instead";

export function writeBanner(out: Output, facts: BannerFacts): void {
  const { url, dashboardUrl, workflows, storePath, cwd, pid, program } = facts;
  const [first = ""] = workflows;
  const rows: readonly (readonly [string, string])[] = [
    ...(dashboardUrl === null ? [] : [["api", url] as const]),
    ["workflows", `${workflows.join(", ")} (${relative(cwd, facts.file)})`],
    ["store", storePath === null ? "the app's own" : relative(cwd, storePath) || storePath],
    ...(facts.asksItself ? [["access", `as the app's own authorize says; ${skipping}`] as const] : []),
    ["process", `${pid}; if it dies, it is started again and goes on`],
    ["start one", `${program} instances create ${first}`],
  ];
  const width = Math.max(...rows.map(([name]) => name.length));
  // First what a browser can open: the dashboard with its token.
  out.line(painted("bold", "everstep dev"), "  ", painted("cyan", dashboardUrl ?? url));
  for (const [name, value] of rows) out.line("  ", painted("dim", name.padEnd(width)), "  ", value);
}
