/**
 * The part of Standard Schema v1 (https://standardschema.dev) that is needed to validate: what Zod, Valibot, ArkType and
 * others implement. Kept here as types, so that a schema library is the author's choice and not a dependency.
 */
export interface StandardSchema<Input = unknown, Output = Input> {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => Validation<Output> | Promise<Validation<Output>>;
    readonly types?: { readonly input: Input; readonly output: Output } | undefined;
  };
}

/** What a schema accepts. */
export type InferInput<Schema extends StandardSchema> = NonNullable<Schema["~standard"]["types"]>["input"];

/** What a schema makes of it. */
export type InferOutput<Schema extends StandardSchema> = NonNullable<Schema["~standard"]["types"]>["output"];

export type Validation<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly ValidationIssue[] };

export interface ValidationIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/** Validates, at once or later as the schema likes. A validator that throws is an issue, not a crash. */
export async function validateWith<Output>(
  schema: StandardSchema<unknown, Output>,
  value: unknown,
): Promise<{ readonly value: Output } | { readonly issues: readonly ValidationIssue[] }> {
  try {
    const validation = await schema["~standard"].validate(value);
    return validation.issues ? { issues: validation.issues } : { value: validation.value };
  } catch (error) {
    return { issues: [{ message: messageOf(error) }] };
  }
}

function messageOf(error: unknown): string {
  try {
    return error instanceof Error ? String(error.message) : String(error);
  } catch {
    return "The validator threw something that cannot be shown.";
  }
}

/** How many issues an error keeps: it is stored, and one more entry says little. */
const issuesKept = 20;

/** Message and place of each, and nothing of what else a library puts in: functions, classes, the whole input. */
export function plainIssues(issues: readonly ValidationIssue[]) {
  return issues.slice(0, issuesKept).map((issue) => ({ message: issue.message, path: keysOf(issue) }));
}

function keysOf({ path = [] }: ValidationIssue): (string | number)[] {
  return path.map((part) => {
    const key = typeof part === "object" ? part.key : part;
    return typeof key === "number" ? key : String(key);
  });
}

/** An issue with its place in front: "amount: Expected number". */
export function issueText(issue: ValidationIssue): string {
  const { message } = issue;
  const keys = keysOf(issue);
  return keys.length === 0 ? message : `${keys.join(".")}: ${message}`;
}
