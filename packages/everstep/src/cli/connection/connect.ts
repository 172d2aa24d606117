import type { Client } from "../../fetch-client/index.ts";
import type { ConnectionValues } from "../common-options.ts";
import type { Output } from "../output/output.ts";
import { painted } from "../output/paint.ts";
import type { Places } from "./places.ts";
import type { Secrets } from "./secrets.ts";
import { type ConnectionSettings, readSettings } from "./settings.ts";

export type ClientFactory = (
  settings: ConnectionSettings & { readonly timeout?: number; readonly retries?: number },
) => Client | Promise<Client>;

interface Surroundings extends Omit<Places, "warn"> {
  readonly err: Output;
  readonly createClient: ClientFactory;
}

export async function connect(
  values: ConnectionValues,
  surroundings: Surroundings,
  secrets: Secrets,
): Promise<Client> {
  const { cwd, home, env, err } = surroundings;
  const warn = (message: string): void => err.line(painted("yellow", "warning:"), ` ${message}`);
  const settings = readSettings(values, { cwd, home, env, warn });
  for (const value of Object.values(settings.headers)) secrets.add(value);
  const { timeout, retries } = values;
  return surroundings.createClient({
    ...settings,
    ...(timeout === undefined ? {} : { timeout }),
    ...(retries === undefined ? {} : { retries }),
  });
}
