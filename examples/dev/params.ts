/** Params that the dashboard makes forms of. A schema library that speaks Standard Schema and JSON Schema does this for you. */
import type { StandardSchema } from "everstep";

export interface Order {
  readonly item: string;
  readonly amount: number;
}

type Check<Params> = (
  value: Partial<Params>,
) => readonly { readonly message: string; readonly path: string[] }[];

export const orderParams = schemaOf<Partial<Order> | undefined>(
  {
    type: "object",
    properties: {
      item: { type: "string", default: "book", description: "What is ordered" },
      amount: { type: "number", minimum: 1, default: 20, description: "What it costs" },
    },
  },
  ({ item = "book", amount = 20 }: Partial<Order>) => [
    ...(typeof item === "string" && item !== "" ? [] : [{ message: "must be a name", path: ["item"] }]),
    ...(typeof amount === "number" && amount >= 1
      ? []
      : [{ message: "must be a number, at least 1", path: ["amount"] }]),
  ],
);

export const crashParams = schemaOf<{ readonly crash?: boolean } | undefined>(
  {
    type: "object",
    properties: {
      crash: { type: "boolean", default: false, description: "It kills its own process in the middle" },
    },
  },
  ({ crash = false }: { readonly crash?: boolean }) =>
    typeof crash === "boolean" ? [] : [{ message: "must be true or false", path: ["crash"] }],
);

function schemaOf<Params>(json: object, check: Check<NonNullable<Params>>): StandardSchema<Params> {
  const standard = {
    version: 1,
    vendor: "everstep-samples",
    validate(value: unknown) {
      if (value !== undefined && (typeof value !== "object" || value === null)) {
        return { issues: [{ message: "must be an object, or left out", path: [] }] };
      }
      const issues = check((value ?? {}) as Partial<NonNullable<Params>>);
      return issues.length > 0 ? { issues } : { value: value as Params };
    },
    jsonSchema: { input: () => json },
  } as const;
  return { "~standard": standard };
}
