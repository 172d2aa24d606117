/** Pieces of statements, put together without losing their values. */
import type { InstanceRef } from "../../model/instance.ts";
import type { Part, RowValues } from "./dialect.ts";

export function refValues({ workflowName, instanceId }: InstanceRef): RowValues {
  return [workflowName, instanceId];
}

export function around(before: string, part: Part, after = ""): Part {
  return { sql: `${before}${part.sql}${after}`, values: part.values };
}

export function joined(parts: readonly Part[], by: string): Part {
  return { sql: parts.map(({ sql }) => sql).join(by), values: parts.flatMap(({ values }) => values) };
}

export function unique<Item>(items: readonly Item[]): Item[] {
  return [...new Set(items)];
}
