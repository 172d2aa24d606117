/** The URL a request is for, put together from what a client says; clients say anything. */
import { EverstepError } from "../model/error.ts";

export interface RequestLine {
  /** As it stands in the first line: a path with a query, or a whole URL. */
  readonly target: string;
  /** Every Host header there is. */
  readonly hosts: readonly string[];
  readonly isEncrypted: boolean;
}

/** What stands in place of a host that is missing or none: nobody allows this one, and nothing resolves to it. */
const noHost = "host.invalid";

export function requestUrl({ target, hosts, isEncrypted }: RequestLine): string {
  if (hosts.length > 1) throw badRequest("has more than one Host header");
  const [given = ""] = hosts;
  const host = isHost(given) ? given : noHost;
  if (target.startsWith("/"))
    return checkedUrl(`${isEncrypted ? "https" : "http"}://${host}${target}`, target);
  const [, authority, rest] = /^https?:\/\/([^/?#]*)(.*)$/is.exec(target) ?? [];
  if (authority === undefined || rest === undefined)
    throw badRequest("has a target that is no path and no URL");
  if (!isHost(authority) || authority.toLowerCase() !== given.toLowerCase()) {
    throw badRequest("names one host in its target and another in its Host header");
  }
  const path = rest.startsWith("/") ? rest : `/${rest}`;
  return checkedUrl(`${isEncrypted ? "https" : "http"}://${authority}${path}`, path);
}

/** A name or an address, with or without a port; nothing that would end up in another part of a URL. */
function isHost(text: string): boolean {
  if (text.length > 300) return false;
  return /^(?:[a-z0-9_](?:[a-z0-9_.-]*)|\[[0-9a-f:.]+\])(?::\d{1,5})?$/i.test(text);
}

// Where "." and ".." are resolved, or a backslash becomes a slash, whoever looked at the path before has seen another one. Clients resolve them before
// they send.
function checkedUrl(url: string, path: string): string {
  const [before = ""] = path.split(/[?#]/, 1);
  if (/(?:^|\/)(?:\.|%2e){1,2}(?:\/|$)/i.test(before)) throw badRequest('has "." or ".." in its path');
  if (before.includes("\\")) throw badRequest("has a backslash in its path, which some read as a slash");
  if (!URL.canParse(url)) throw badRequest("has a target that is no URL");
  return url;
}

function badRequest(problem: string): EverstepError {
  return new EverstepError("INVALID_ARGUMENT", `The request ${problem}, so it is not answered.`);
}
