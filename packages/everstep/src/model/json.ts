/**
 * The one door through which JSON text becomes values.
 *
 * V8 (of Node 24 and of browsers of that time) misreads keys that are written with an escape: it compares the raw text of the key
 * with the keys of objects the process has made before, so `{"b":0,"\n":1}` is read as `{"b":0,"\\":1}` once any object had
 * the keys `b` and `\`. A value would change silently, depending on what else runs in the process (decisions/0023). So keys
 * with escapes never reach JSON.parse: they are replaced by plain names, and named back in the result.
 */

/** What JSON.parse promises, kept: the value, or its SyntaxError. */
export function parseJson<Value = unknown>(text: string): Value {
  const value: Value = JSON.parse(text);
  return text.includes("\\") && hasEscapedKey(text) ? parseWithPlainKeys(text) : value;
}

const backslash = 0x5c;
const colon = 0x3a;
const space = 0x20;

/** Of valid JSON: whether a key is written with an escape. */
function hasEscapedKey(text: string): boolean {
  let at = text.indexOf("\\");
  while (at !== -1) {
    const end = endOfString(text, at);
    if (isKey(text, end)) return true;
    at = text.indexOf("\\", end);
  }
  return false;
}

/** Just behind the string that `at` is in. The character at `at` begins an escape or is the string's first. */
function endOfString(text: string, at: number): number {
  let quote = at;
  for (;;) {
    quote = text.indexOf('"', quote + 1);
    let escapes = quote;
    while (escapes > at && text.charCodeAt(escapes - 1) === backslash) escapes--;
    if ((quote - escapes) % 2 === 0) return quote + 1;
  }
}

/** Whether the string that ends there is followed by a colon. Nothing below a space but white space can be there. */
function isKey(text: string, end: number): boolean {
  let at = end;
  while (text.charCodeAt(at) <= space) at++;
  return text.charCodeAt(at) === colon;
}

function parseWithPlainKeys<Value>(text: string): Value {
  const { keys, escaped } = keysOf(text);
  const plainNames = plainNamesFor(escaped, keys);
  const keysByName = new Map([...plainNames].map(([key, plain]) => [plain, key]));
  return namedBack(JSON.parse(withPlainKeys(text, plainNames)), keysByName) as Value;
}

/** All keys, and those that are written with an escape somewhere. */
function keysOf(text: string): { readonly keys: Set<string>; readonly escaped: Set<string> } {
  const keys = new Set<string>();
  const escaped = new Set<string>();
  eachKey(text, (token) => {
    const key = stringOf(token);
    keys.add(key);
    if (token.includes("\\")) escaped.add(key);
  });
  return { keys, escaped };
}

/** Names without escapes, none of which is a key already. */
function plainNamesFor(escaped: ReadonlySet<string>, keys: ReadonlySet<string>): Map<string, string> {
  const plainNames = new Map<string, string>();
  let n = 0;
  for (const key of escaped) {
    while (keys.has(`k${n}`)) n++;
    plainNames.set(key, `k${n++}`);
  }
  return plainNames;
}

// The same key may be written once with and once without an escape; the last one counts, so both get the same name.
function withPlainKeys(text: string, plainNames: ReadonlyMap<string, string>): string {
  const parts: string[] = [];
  let copied = 0;
  eachKey(text, (token, start) => {
    const plain = plainNames.get(stringOf(token));
    if (plain === undefined) return;
    parts.push(text.slice(copied, start), `"${plain}"`);
    copied = start + token.length;
  });
  parts.push(text.slice(copied));
  return parts.join("");
}

function eachKey(text: string, use: (token: string, start: number) => void): void {
  let start = text.indexOf('"');
  while (start !== -1) {
    const end = endOfString(text, start);
    if (isKey(text, end)) use(text.slice(start, end), start);
    start = text.indexOf('"', end);
  }
}

/** What a string alone means, which V8 reads rightly. */
function stringOf(token: string): string {
  return token.includes("\\") ? (JSON.parse(token) as string) : token.slice(1, -1);
}

/** Without recursion: JSON may be nested deeper than the stack. */
function namedBack(value: unknown, keysByName: ReadonlyMap<string, string>): unknown {
  const root = [value];
  const left: Record<string, unknown>[] = [root as never];
  for (let holder = left.pop(); holder !== undefined; holder = left.pop()) {
    for (const key of Object.keys(holder)) {
      const inner = holder[key];
      if (typeof inner !== "object" || inner === null) continue;
      const named = Array.isArray(inner) ? inner : renamed(inner, keysByName);
      if (named !== inner) holder[key] = named;
      left.push(named as Record<string, unknown>);
    }
  }
  return root[0];
}

/** The same keys in the same order, under the names they have. */
function renamed(object: object, keysByName: ReadonlyMap<string, string>): object {
  const names = Object.keys(object);
  if (!names.some((name) => keysByName.has(name))) return object;
  const made = {};
  for (const name of names) {
    const key = keysByName.get(name) ?? name;
    const value = object[name as never];
    // By assignment, __proto__ would be taken for something else.
    if (key === "__proto__")
      Object.defineProperty(made, key, { value, writable: true, enumerable: true, configurable: true });
    else made[key as never] = value;
  }
  return made;
}
