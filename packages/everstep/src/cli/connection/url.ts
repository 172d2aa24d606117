import { CommandFailed, UsageError } from "../problems.ts";

/** A URL one can append a path to. What is in it beyond that may be a secret, and is not repeated. */
export function checkUrl(text: string, what: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol)) {
    throw new UsageError(`${what} is not a URL that begins with http:// or https://.`);
  }
  if (url.username !== "" || url.password !== "") {
    throw new UsageError(
      `${what} has a user name or a password in it.`,
      'Send them as a header: -H "Authorization: ..."',
    );
  }
  if (url.search !== "" || url.hash !== "") {
    throw new UsageError(`${what} has something after "?" or "#"; it ends with the path of the mount.`);
  }
  return url.href;
}

export function isLocal(url: string): boolean {
  return URL.canParse(url) && /^(127\.\d+\.\d+\.\d+|localhost|\[::1\])$/.test(new URL(url).hostname);
}

/** "everstep dev" listens on this machine only: a note that names another was not written by it. */
export function checkLocal(text: string, what: string): string {
  const url = checkUrl(text, what);
  if (isLocal(url)) return url;
  throw new CommandFailed(
    `${what} is not on this machine, so "everstep dev" did not write it; nothing was sent.`,
    "Delete the file, or name the server yourself: --url, EVERSTEP_URL.",
  );
}
