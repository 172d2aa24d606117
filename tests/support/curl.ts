/** Commands of the documentation that call curl: read, and asked with fetch, so that a machine without curl tests them too. */

export interface CurlCommand {
  readonly url: string;
  readonly method: string;
  readonly headers: readonly (readonly [string, string])[];
  readonly body: string | undefined;
  /** -i: with status and headers. */
  readonly showsHead: boolean;
  /** -N: what comes is shown as it comes. */
  readonly streams: boolean;
}

/** Every command of a block must be a curl that this understands. */
export function readCurl(block: string, variables: Readonly<Record<string, string>>): CurlCommand[] {
  return commandsOf(block, variables).map(([program, ...words]) => {
    if (program !== "curl") throw new Error(`"${program}" is not curl.`);
    return commandOf(words);
  });
}

function commandOf(words: readonly string[]): CurlCommand {
  const urls: string[] = [];
  const headers: [string, string][] = [];
  let method: string | undefined;
  let body: string | undefined;
  const flags = new Set<string>();
  const rest = [...words];
  for (let word = rest.shift(); word !== undefined; word = rest.shift()) {
    if (word === "-H") headers.push(headerOf(rest.shift() ?? ""));
    else if (word === "-X") method = rest.shift();
    else if (word === "--json") {
      body = rest.shift();
      headers.push(["content-type", "application/json"], ["accept", "application/json"]);
    } else if (word === "-i" || word === "-N") flags.add(word);
    else if (word.startsWith("-")) throw new Error(`curl ${word} is not known here.`);
    else urls.push(word);
  }
  const [url, another] = urls;
  if (url === undefined || another !== undefined) throw new Error(`One URL, not ${urls.length}.`);
  return {
    url,
    method: method ?? (body === undefined ? "GET" : "POST"),
    headers,
    body,
    showsHead: flags.has("-i"),
    streams: flags.has("-N"),
  };
}

function headerOf(text: string): [string, string] {
  const at = text.indexOf(":");
  if (at < 1) throw new Error(`"${text}" is no header.`);
  return [text.slice(0, at), text.slice(at + 1).trim()];
}

/** As a shell splits them: quotes, variables, backslashes at the end of a line. */
function commandsOf(block: string, variables: Readonly<Record<string, string>>): string[][] {
  const commands: string[][] = [[]];
  const part = /\\\n|(\n)|'([^']*)'|"((?:[^"\\]|\\.)*)"|\$(\w+)|([^\s'"\\$]+)|[ \t]+/gy;
  const variable = (name: string): string => {
    const value = variables[name];
    if (value === undefined) throw new Error(`$${name} is not set.`);
    return value;
  };
  let word: string | undefined;
  const endWord = (): void => {
    if (word !== undefined) commands.at(-1)?.push(word);
    word = undefined;
  };
  for (let at = 0; at < block.length; at = part.lastIndex) {
    part.lastIndex = at;
    const [all, newline, single, double, name, plain] =
      part.exec(block) ?? fail(`"${block.slice(at, at + 20)}" is not understood.`);
    const text = single ?? double?.replace(/\$(\w+)/g, (_, inner) => variable(inner)) ?? plain;
    if (text !== undefined) word = (word ?? "") + text;
    else if (name !== undefined) word = (word ?? "") + variable(name);
    else if (all !== undefined) endWord();
    if (newline !== undefined) commands.push([]);
  }
  endWord();
  return commands.filter(({ length }) => length > 0);
}

function fail(message: string): never {
  throw new Error(message);
}

/** What curl would print. Of a stream only as many events as are wanted. */
export async function ask(command: CurlCommand, eventsMax: number): Promise<string> {
  const { url, method, headers, body, showsHead, streams } = command;
  const hangUp = new AbortController();
  const response = await fetch(url, {
    method,
    headers: headers.map(([name, value]) => [name, value]),
    ...(body === undefined ? {} : { body }),
    signal: hangUp.signal,
  });
  const head = showsHead ? headOf(response) : "";
  if (!streams) return head + (await response.text());
  let seen = "";
  const decoder = new TextDecoder();
  const reader = (response.body ?? fail("There is no stream.")).getReader();
  while (eventsOf(seen).length < eventsMax) {
    const { value, done } = await reader.read();
    if (done) break;
    seen += decoder.decode(value, { stream: true });
  }
  hangUp.abort();
  await reader.cancel().catch(() => {});
  return head + seen;
}

function headOf({ status, statusText, headers }: Response): string {
  const lines = [...headers].map(([name, value]) => `${name}: ${value}`);
  return [`HTTP/1.1 ${status} ${statusText}`, ...lines, "", ""].join("\r\n");
}

/** The blocks of a stream of server-sent events that are complete. */
export function eventsOf(text: string): string[] {
  return text
    .split("\n\n")
    .slice(0, -1)
    .filter((block) => /^data: /m.test(block));
}
