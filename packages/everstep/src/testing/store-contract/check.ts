/** Just enough assertion for cases that any test runner can run. A property that is undefined counts as absent. */
export function equal(actual: unknown, expected: unknown, what: string): void {
  const difference = findDifference(actual, expected, "");
  if (difference !== undefined) throw new Error(`${what}: ${difference}`);
}

/** Every property named in `expected` is there and equal; others are not looked at. */
export function matches(actual: unknown, expected: object, what: string): void {
  if (typeof actual !== "object" || actual === null) {
    throw new Error(`${what}: expected an object with ${show(expected)}, got ${show(actual)}`);
  }
  for (const [name, value] of Object.entries(expected)) {
    equal((actual as Record<string, unknown>)[name], value, `${what}, ${name}`);
  }
}

export function isTrue(condition: boolean, what: string): asserts condition {
  if (!condition) throw new Error(what);
}

/** The promise fails with an error that carries `code`. */
export async function rejects(promise: Promise<unknown>, code: string, what: string): Promise<void> {
  const error = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (error === undefined)
    throw new Error(`${what}: expected an error with the code ${code}, but it succeeded`);
  equal((error as { code?: unknown }).code, code, `${what}, the code of "${String(error)}"`);
}

function findDifference(actual: unknown, expected: unknown, path: string): string | undefined {
  if (Object.is(actual, expected)) return undefined;
  if (!isContainer(actual) || !isContainer(expected) || Array.isArray(actual) !== Array.isArray(expected)) {
    return `expected ${show(expected)}, got ${show(actual)}${path === "" ? "" : ` at ${path}`}`;
  }
  const before = actual as Record<string, unknown>;
  const after = expected as Record<string, unknown>;
  if (Array.isArray(actual) && Array.isArray(expected) && actual.length !== expected.length) {
    return `expected ${expected.length} items ${show(expected)}, got ${actual.length} ${show(actual)}${path === "" ? "" : ` at ${path}`}`;
  }
  for (const name of new Set([...Object.keys(before), ...Object.keys(after)])) {
    const difference = findDifference(before[name], after[name], path === "" ? name : `${path}.${name}`);
    if (difference !== undefined) return difference;
  }
  return undefined;
}

function isContainer(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}

function show(value: unknown): string {
  const text = value === undefined ? "undefined" : (JSON.stringify(value) ?? String(value));
  return text.length > 300 ? `${text.slice(0, 300)}… (${text.length} characters)` : text;
}
