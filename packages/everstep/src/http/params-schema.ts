import type { StandardSchema } from "../authoring/standard-schema.ts";

/** A workflow's params as JSON Schema, where its own schema can tell; forms are made from it. */
export function paramsSchemaOf(schema: StandardSchema | undefined): unknown {
  if (!schema) return undefined;
  try {
    const standard = schema["~standard"] as {
      readonly jsonSchema?: { readonly input?: (terms: { readonly target: string }) => unknown };
    };
    if (standard.jsonSchema?.input) return standard.jsonSchema.input({ target: "draft-2020-12" });
    const own = schema as unknown as {
      readonly toJSONSchema?: () => unknown;
      readonly toJsonSchema?: () => unknown;
    };
    return own.toJSONSchema?.() ?? own.toJsonSchema?.();
  } catch {
    // A schema that has no JSON form (a transformation, a Date) is still checked, only not shown.
    return undefined;
  }
}
