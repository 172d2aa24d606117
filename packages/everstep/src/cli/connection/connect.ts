import type { Client } from "../../fetch-client/index.ts";
import type { ConnectionValues } from "../common-options.ts";
import type { Input } from "../input.ts";
import type { Output } from "../output/output.ts";
import { painted } from "../output/paint.ts";
import { UsageError } from "../problems.ts";
import type { Places } from "./places.ts";
import type { Secrets } from "./secrets.ts";
import { type ConnectionSettings, type Doubt, readSettings } from "./settings.ts";

export type ClientFactory = (
  settings: ConnectionSettings & { readonly timeout?: number; readonly retries?: number },
) => Client | Promise<Client>;

interface Surroundings extends Omit<Places, "warn"> {
  readonly err: Output;
  readonly input: Input;
  readonly createClient: ClientFactory;
}

export async function connect(
  values: ConnectionValues,
  surroundings: Surroundings,
  secrets: Secrets,
): Promise<Client> {
  const { cwd, home, env, err } = surroundings;
  const warn = (message: string): void => err.line(painted("yellow", "warning:"), ` ${message}`);
  const { doubt, ...settings } = readSettings(values, { cwd, home, env, warn });
  for (const value of Object.values(settings.headers)) secrets.add(value);
  if (doubt !== undefined) await settle(doubt, surroundings);
  const { timeout, retries } = values;
  return surroundings.createClient({
    ...settings,
    ...(timeout === undefined ? {} : { timeout }),
    ...(retries === undefined ? {} : { retries }),
  });
}

// A folder that was cloned or unpacked must not learn a token by naming a server: the person says so, or names it.
async function settle({ what, url, path }: Doubt, { input, err }: Surroundings): Promise<void> {
  if (input.isTerminal && err.isTerminal) {
    const answer = await input.ask(`Send ${what} to ${url}, which ${path} names? [y/N] `);
    if (/^y(es)?$/i.test(answer?.trim() ?? "")) return;
  }
  throw new UsageError(
    `${what} ${what.includes(" and ") ? "were" : "was"} not sent to ${url}: ${path} names that server, not you.`,
    `If it is meant for it, name the server too: EVERSTEP_URL=${url} or --url ${url}, or as "url" in ~/.config/everstep/config.json.`,
  );
}
