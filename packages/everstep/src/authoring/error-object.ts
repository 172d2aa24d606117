/** An error of this realm or another, or a DOMException. Throws what a hostile proxy throws. */
export function isErrorObject(value: object): value is Readonly<Record<string, unknown>> {
  if (value instanceof Error) return true;
  const tag = Object.prototype.toString.call(value);
  return tag === "[object Error]" || tag === "[object DOMException]";
}

/** What errors keep hidden; their other own properties are written beside these. */
export const errorFieldNames: ReadonlySet<string> = new Set(["name", "message", "stack", "cause", "errors"]);

/** All that is kept of an error that is part of a value. */
export function errorFields(error: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const { name, message, stack } = error;
  const fields: [string, unknown][] = [
    ["name", typeof name === "string" ? name : "Error"],
    ["message", typeof message === "string" ? message : ""],
  ];
  if (typeof stack === "string") fields.push(["stack", stack]);
  for (const key of ["cause", "errors"]) {
    if (Object.hasOwn(error, key)) fields.push([key, error[key]]);
  }
  const properties = Object.keys(error).filter((key) => !errorFieldNames.has(key));
  return Object.fromEntries([...fields, ...properties.map((key) => [key, error[key]] as const)]);
}

/** An error of the built-in class that has this name, or a plain Error that carries it. */
export function newError(name: string, message: string, stack: string | undefined): Error {
  const error = errorClasses.get(name)?.() ?? new Error();
  if (error.name !== name) defineHidden(error, "name", name);
  defineHidden(error, "message", message);
  defineHidden(error, "stack", stack);
  return error;
}

const errorClasses: ReadonlyMap<string, () => Error> = new Map<string, () => Error>([
  ["EvalError", () => new EvalError()],
  ["RangeError", () => new RangeError()],
  ["ReferenceError", () => new ReferenceError()],
  ["SyntaxError", () => new SyntaxError()],
  ["TypeError", () => new TypeError()],
  ["URIError", () => new URIError()],
  ["AggregateError", () => new AggregateError([])],
]);

/** As the constructors of errors do it: there, but not listed. */
export function defineHidden(target: object, key: string, value: unknown): void {
  Object.defineProperty(target, key, { value, writable: true, enumerable: false, configurable: true });
}

/** As an assignment does it, but also for keys such as `__proto__` that an assignment takes for something else. */
export function defineListed(target: object, key: string, value: unknown): void {
  Object.defineProperty(target, key, { value, writable: true, enumerable: true, configurable: true });
}

/** A property, or undefined. Errors come from anywhere, with getters and proxies of any kind. */
export function read(target: unknown, key: string): unknown {
  if (typeof target !== "object" || target === null) return undefined;
  try {
    return (target as Record<string, unknown>)[key];
  } catch {
    return undefined;
  }
}

/** How many errors of a chain or bundle are looked at: they can be circles. */
const errorsMax = 100;

/** Whether it holds of the error, of one of its causes, or of an error bundled in one of these. */
export function someError(error: unknown, holds: (error: object) => boolean): boolean {
  const seen = new Set<object>();
  const open: unknown[] = [error];
  while (open.length > 0 && seen.size < errorsMax) {
    const one = open.shift();
    if (typeof one !== "object" || one === null || seen.has(one)) continue;
    if (holds(one)) return true;
    seen.add(one);
    const bundled = read(one, "errors");
    open.push(read(one, "cause"), ...(Array.isArray(bundled) ? bundled.slice(0, errorsMax) : []));
  }
  return false;
}
