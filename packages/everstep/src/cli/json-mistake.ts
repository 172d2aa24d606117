/** Where a text stops being JSON, and what should have been there. Engines say it in many ways, and not always. */
export interface JsonMistake {
  readonly at: number;
  readonly expected: string;
}

/** For a text that is not JSON. */
export function findJsonMistake(text: string): JsonMistake {
  try {
    const end = skipSpace(text, readAny(text, skipSpace(text, 0)));
    return { at: Math.min(end, text.length), expected: "nothing more was expected" };
  } catch (error) {
    if (error instanceof Mistake) return error;
    throw error;
  }
}

class Mistake extends Error implements JsonMistake {
  readonly at: number;
  readonly expected: string;

  constructor(at: number, expected: string) {
    super(expected);
    this.at = at;
    this.expected = expected;
  }
}

function readAny(text: string, at: number): number {
  const first = text[at];
  if (first === "{") return readList(text, at, "}", readMember);
  if (first === "[") return readList(text, at, "]", readAny);
  if (first === '"') return readString(text, at);
  const word =
    match(text, at, /(?:true|false|null)(?!\w)/y) ??
    match(text, at, /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y);
  if (word !== undefined) return at + word.length;
  throw new Mistake(at, first === undefined ? "a value is missing" : "a value was expected");
}

function readList(
  text: string,
  start: number,
  close: string,
  readItem: (text: string, at: number) => number,
): number {
  let at = skipSpace(text, start + 1);
  if (text[at] === close) return at + 1;
  for (;;) {
    at = skipSpace(text, readItem(text, at));
    if (text[at] === close) return at + 1;
    if (text[at] !== ",") throw new Mistake(at, `"," or "${close}" was expected`);
    at = skipSpace(text, at + 1);
  }
}

function readMember(text: string, start: number): number {
  if (text[start] !== '"') throw new Mistake(start, "a name in double quotes was expected");
  const colon = skipSpace(text, readString(text, start));
  if (text[colon] !== ":") throw new Mistake(colon, '":" was expected');
  return readAny(text, skipSpace(text, colon + 1));
}

function readString(text: string, start: number): number {
  let at = start + 1;
  while (text[at] !== '"') {
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is not allowed in a JSON string
    const part = match(text, at, /[^"\\\u0000-\u001f]+|\\(?:["\\/bfnrt]|u[\da-fA-F]{4})/y);
    if (part === undefined) {
      throw new Mistake(at, at >= text.length ? "a double quote is missing" : "this cannot stand in a text");
    }
    at += part.length;
  }
  return at + 1;
}

function skipSpace(text: string, at: number): number {
  return at + (match(text, at, /[ \t\r\n]*/y)?.length ?? 0);
}

function match(text: string, at: number, pattern: RegExp): string | undefined {
  pattern.lastIndex = at;
  return pattern.exec(text)?.[0];
}
