import type { InstanceRecord } from "../model/instance.ts";
import type { CreateRequest } from "../model/request.ts";

/** After a lost reply: an instance that is the same in everything is the one that the request created. */
export function isOwnCreation({ createdAt, params }: InstanceRecord, request: CreateRequest): boolean {
  return (
    createdAt === request.createdAt &&
    params.json === request.params.json &&
    params.marks === request.params.marks
  );
}
