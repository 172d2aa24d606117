/** Where a URL and headers can be kept: everstep.config.json in the folder or one above, or one file for the user. */
import { join } from "node:path";
import { parseJson } from "../../model/json.ts";
import { findJsonMistake } from "../json-mistake.ts";
import { CommandFailed } from "../problems.ts";
import { findUpwards, readOwnFile } from "./files.ts";
import { checkHeader, type Header } from "./header.ts";
import type { Places } from "./places.ts";

export interface ConfigFile {
  readonly path: string;
  readonly url: string | undefined;
  readonly headers: readonly Header[];
  /** The one for everything the user does, not one that came with a folder. */
  readonly isOfUser: boolean;
}

export const configFileName = "everstep.config.json";

/** The nearest first. */
export function readConfigFiles(places: Places): readonly ConfigFile[] {
  const project = findUpwards(places.cwd, configFileName);
  const configHome = places.env.XDG_CONFIG_HOME || join(places.home, ".config");
  const ofProject = project === undefined ? undefined : readConfigFile(project, places, false);
  const ofUser = readConfigFile(join(configHome, "everstep", "config.json"), places, true);
  return [ofProject, ofUser].filter((file) => file !== undefined);
}

function readConfigFile(path: string, places: Places, isOfUser: boolean): ConfigFile | undefined {
  const file = readOwnFile(path, places);
  if (file === undefined) return undefined;
  const { url, headers = {} } = parseConfig(path, file.text);
  if (url !== undefined && typeof url !== "string") throw wrong(path, '"url" must be text');
  if (typeof headers !== "object" || headers === null) throw wrong(path, '"headers" must be an object');
  const list = Object.entries(headers).map(([name, value]) => headerOf(path, name, value));
  if (list.length > 0 && file.isReadableByOthers) {
    places.warn(
      `${path} has headers in it and can be read by other users of this machine: chmod 600 ${path}`,
    );
  }
  return { path, url, headers: list, isOfUser };
}

function headerOf(path: string, name: string, value: unknown): Header {
  if (typeof value !== "string") throw wrong(path, `the header "${name}" must be text`);
  return checkHeader({ name, value }, `A header in ${path}`);
}

// The text is never part of a message: there may be a token in it.
function parseConfig(path: string, text: string): { readonly url?: unknown; readonly headers?: unknown } {
  try {
    const value: unknown = parseJson(text);
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return value;
  } catch {
    const { at, expected } = findJsonMistake(text);
    throw wrong(path, `it is not JSON in line ${text.slice(0, at).split("\n").length}: ${expected}`);
  }
  throw wrong(path, "it must be an object");
}

function wrong(path: string, what: string): CommandFailed {
  return new CommandFailed(
    `${path} cannot be used: ${what}.`,
    'It looks like { "url": "https://host/api/workflows", "headers": { "Authorization": "Bearer ..." } }.',
  );
}
