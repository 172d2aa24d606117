/** Where the server is and what is sent along, from the options, the environment, or a file. */
import type { ConnectionValues } from "../common-options.ts";
import { CommandFailed } from "../problems.ts";
import { type ConfigFile, configFileName, readConfigFiles } from "./config-file.ts";
import { type DevServer, findDevServer } from "./dev-file.ts";
import { checkHeader, type Header, parseHeader } from "./header.ts";
import type { Places } from "./places.ts";
import { checkUrl } from "./url.ts";

export interface ConnectionSettings {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

export function readSettings(values: ConnectionValues, places: Places): ConnectionSettings {
  const typed = values.header.map((text) => parseHeader(text, "The header of -H"));
  const token = tokenHeader(places.env);
  const files = readConfigFiles(places);
  const url = findUrl(values, files, places);
  return { url, headers: merged(headersFor(url, files), token, typed) };
}

function findUrl(values: ConnectionValues, files: readonly ConfigFile[], places: Places): string {
  if (values.url !== undefined) return checkUrl(values.url, "--url");
  if (places.env.EVERSTEP_URL) return checkUrl(places.env.EVERSTEP_URL, "EVERSTEP_URL");
  const file = files.find(({ url }) => url !== undefined);
  if (file?.url !== undefined) return checkUrl(file.url, `The url in ${file.path}`);
  const dev = findDevServer(places);
  if (dev?.isAlive) return checkUrl(dev.url, `The url in ${dev.path}`);
  throw noUrl(dev);
}

// What a file says one logs in with is for the server that it names, and for no other that was named elsewhere.
function headersFor(url: string, files: readonly ConfigFile[]): readonly Header[] {
  const { origin } = new URL(url);
  const isFor = (file: ConfigFile): boolean =>
    file.url === undefined || new URL(checkUrl(file.url, `The url in ${file.path}`)).origin === origin;
  return files.find((file) => file.headers.length > 0 && isFor(file))?.headers ?? [];
}

function tokenHeader(env: Places["env"]): readonly Header[] {
  if (!env.EVERSTEP_TOKEN) return [];
  return [
    checkHeader(
      { name: "Authorization", value: `Bearer ${env.EVERSTEP_TOKEN}` },
      "EVERSTEP_TOKEN as a header",
    ),
  ];
}

/** A later place wins over an earlier one; what one place gives several times is sent as a list. */
function merged(...places: readonly (readonly Header[])[]): Readonly<Record<string, string>> {
  const byName = new Map<string, Header>();
  for (const headers of places) {
    const here = new Map<string, Header>();
    for (const { name, value } of headers) {
      const before = here.get(name.toLowerCase());
      here.set(name.toLowerCase(), {
        name,
        value: before === undefined ? value : `${before.value}, ${value}`,
      });
    }
    for (const [key, header] of here) byName.set(key, header);
  }
  return Object.fromEntries([...byName.values()].map(({ name, value }) => [name, value]));
}

function noUrl(dev: DevServer | undefined): CommandFailed {
  const gone =
    dev === undefined
      ? ""
      : `\nThe server that ${dev.path} names (process ${dev.pid}) is no longer running; start it again.`;
  return new CommandFailed(
    "It is not known where the server is.",
    `Give its URL in one of three ways:
  --url https://host/api/workflows
  EVERSTEP_URL=https://host/api/workflows
  { "url": "https://host/api/workflows" } in ${configFileName} here or in a folder above
or start one with "everstep dev": the other commands then find it by themselves.${gone}`,
  );
}
