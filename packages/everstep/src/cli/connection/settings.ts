/** Where the server is and what is sent along, from the options, the environment, or a file. */
import type { ConnectionValues } from "../common-options.ts";
import { CommandFailed } from "../problems.ts";
import { type ConfigFile, configFileName, readConfigFiles } from "./config-file.ts";
import { type DevServer, findDevServer } from "./dev-file.ts";
import { checkHeader, type Header, parseHeader } from "./header.ts";
import type { Places } from "./places.ts";
import { checkLocal, checkUrl, isLocal } from "./url.ts";

export interface ConnectionSettings {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** What the user logs in with would go to a URL that the user did not name. */
export interface Doubt {
  /** `EVERSTEP_TOKEN`, `-H`. */
  readonly what: string;
  readonly url: string;
  /** The file that names the URL. */
  readonly path: string;
}

export interface FoundSettings extends ConnectionSettings {
  /** To be settled before anything is sent. */
  readonly doubt?: Doubt;
}

export function readSettings(values: ConnectionValues, places: Places): FoundSettings {
  const typed = values.header.map((text) => parseHeader(text, "The header of -H"));
  const token = tokenHeader(places.env);
  const files = readConfigFiles(places);
  const { url, namedBy, ownHeaders } = findUrl(values, files, places);
  if (namedBy === null) {
    const kept = headersFor(url, files);
    const isKnown = [...kept, ...token, ...typed].some(isAuthorization);
    return { url, headers: merged(kept, isKnown ? [] : devToken(url, places), token, typed) };
  }
  // A server of one's own has made its own token; that of the environment is for another one.
  const sent = ownHeaders.some(isAuthorization) ? [] : token;
  const what = [...(sent.length > 0 ? ["EVERSTEP_TOKEN"] : []), ...(typed.length > 0 ? ["-H"] : [])];
  const headers = merged(ownHeaders, sent, typed);
  if (what.length === 0) return { url, headers };
  return { url, headers, doubt: { what: what.join(" and "), url, path: namedBy } };
}

interface FoundUrl {
  readonly url: string;
  /** null where the user did: by the option, the environment, or the file for everything they do. */
  readonly namedBy: string | null;
  /** What the same file says of who calls. */
  readonly ownHeaders: readonly Header[];
}

function findUrl(values: ConnectionValues, files: readonly ConfigFile[], places: Places): FoundUrl {
  const byUser = (url: string): FoundUrl => ({ url, namedBy: null, ownHeaders: [] });
  if (values.url !== undefined) return byUser(checkUrl(values.url, "--url"));
  if (places.env.EVERSTEP_URL) return byUser(checkUrl(places.env.EVERSTEP_URL, "EVERSTEP_URL"));
  const file = files.find(({ url }) => url !== undefined);
  if (file !== undefined) {
    const url = urlOf(file) as string;
    const isUsers = files.some((each) => each.isOfUser && hasOrigin(each, url));
    return isUsers ? byUser(url) : { url, namedBy: file.path, ownHeaders: file.headers };
  }
  const dev = findDevServer(places);
  if (!dev?.isAlive) throw noUrl(dev);
  const url = checkLocal(dev.url, `The url in ${dev.path}`);
  return { url, namedBy: dev.path, ownHeaders: dev.token === undefined ? [] : [bearer(dev.token, dev.path)] };
}

/**
 * The `everstep dev` of this folder was named by its URL: it made the token for just that. Nothing else is told it, not another port
 * of this machine either, and only while it runs.
 */
function devToken(url: string, places: Places): readonly Header[] {
  if (!isLocal(url)) return [];
  const dev = findDevServer(places);
  if (!dev?.isAlive || dev.token === undefined || !isLocal(dev.url)) return [];
  return sameServer(url, dev.url) ? [bearer(dev.token, dev.path)] : [];
}

/** With or without the slash at its end. */
function sameServer(url: string, other: string): boolean {
  const [one, two] = [new URL(url), new URL(other)];
  const path = ({ pathname }: URL): string => pathname.replace(/\/+$/, "");
  return one.origin === two.origin && path(one) === path(two);
}

// What a file says one logs in with is for the server that it names, and for no other that was named elsewhere.
function headersFor(url: string, files: readonly ConfigFile[]): readonly Header[] {
  const isFor = (file: ConfigFile): boolean => file.url === undefined || hasOrigin(file, url);
  return files.find((file) => file.headers.length > 0 && isFor(file))?.headers ?? [];
}

function hasOrigin(file: ConfigFile, url: string): boolean {
  const own = urlOf(file);
  return own !== undefined && new URL(own).origin === new URL(url).origin;
}

function urlOf({ url, path }: ConfigFile): string | undefined {
  return url === undefined ? undefined : checkUrl(url, `The url in ${path}`);
}

function isAuthorization({ name }: Header): boolean {
  return name.toLowerCase() === "authorization";
}

function bearer(token: string, from: string): Header {
  return checkHeader({ name: "Authorization", value: `Bearer ${token}` }, `The token in ${from}`);
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
