/** Instances as a list brings them, for tests. */
import type { InstanceStatus, WireInstancesWithMeta, WireInstanceWithMeta, WireMeta } from "everstep/client";
import { sampleMeta } from "../instance/timeline/sample-steps.ts";

export function listed(
  id: string,
  changes: Partial<WireMeta> & {
    readonly status?: InstanceStatus;
    readonly error?: { readonly name: string; readonly message: string };
    readonly reason?: WireMeta["terminationReason"];
  } = {},
): WireInstanceWithMeta {
  const { status = "complete", error, reason = null, ...meta } = changes;
  const at = "2026-03-01T10:00:00.000Z";
  return {
    id,
    details: { status, ...(error ? { error } : {}) },
    meta: {
      ...sampleMeta({ started: null }),
      createdAt: at,
      updatedAt: at,
      terminationReason: reason,
      ...meta,
    },
  };
}

/** A page of these ids; with a cursor there is more. */
export function pageOf(
  ids: readonly (string | WireInstanceWithMeta)[],
  cursor?: string,
): WireInstancesWithMeta {
  const instances = ids.map((each) => (typeof each === "string" ? listed(each) : each));
  return cursor === undefined ? { instances, hasNextPage: false } : { instances, cursor, hasNextPage: true };
}
