/** What a request says of itself, beside its path. */
import { EverstepError } from "../model/error.ts";
import type { HookName } from "./authorize.ts";

/** What a hook is told beside where the request goes: what it brings, as it was understood. */
export function factsFor(
  hook: HookName,
  query: Readonly<Record<string, unknown>>,
  body: unknown,
): Readonly<Record<string, unknown>> {
  const sent = body as { readonly instances?: readonly object[] };
  switch (hook) {
    case "instanceCreation":
      return { instances: sent.instances ?? [sent] };
    case "sendEvent":
      return { event: sent };
    case "runnerTick":
      return sent as Readonly<Record<string, unknown>>;
    case "management":
      return { body: sent };
    case "read":
      return { query };
  }
}

/** A repeat with the same one has no further effect. */
export function idempotencyKeyOf(request: Request): string | undefined {
  const key = request.headers.get("idempotency-key");
  if (key === null) return;
  if (/^[\x21-\x7e]{1,200}$/.test(key)) return key;
  throw new EverstepError(
    "INVALID_ARGUMENT",
    "The idempotency-key must be 1 to 200 visible ASCII characters, for instance a UUID.",
  );
}

export function wantsStream(request: Request): boolean {
  return /(^|,)\s*text\/event-stream\s*(;|,|$)/i.test(request.headers.get("accept") ?? "");
}
