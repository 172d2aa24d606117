/** A request for every route that is answered well, so that whatever is refused is refused for another reason. */
import type { Route } from "../../../packages/everstep/src/http/route.ts";
import { routes } from "../../../packages/everstep/src/http/routes/index.ts";

export interface SampleRequest {
  readonly route: Route;
  readonly path: string;
  readonly body?: unknown;
}

const bodies: Readonly<Record<string, unknown>> = {
  createInstance: { id: "fresh", params: { amount: 1 } },
  createBatch: { instances: [{ id: "fresh-1" }, { id: "fresh-2", params: 7 }] },
  terminate: { reason: "enough" },
  restart: { from: "approval" },
  rewind: { step: "approval" },
  fork: { newId: "forked" },
  restartOrCreate: { params: 3 },
  sendEvent: { type: "approved", payload: "yes", idempotencyKey: "event-1" },
  publish: { payload: "hot", idempotencyKey: "publication-1" },
  tick: { maxInstances: 2 },
};

/** What it takes for every route to be there. */
export const everyRoute = { tick: true, onKill: () => {} } as const;

/** The instance that some of them need: one that failed, and so has ended. */
export const failed = "failed-1";
export const waiting = "waiting-1";

export const sampleRequests: readonly SampleRequest[] = routes.map((route) => {
  const [workflowName, instanceId] = ["retryFailedStep", "delete"].includes(route.action)
    ? ["flaky", failed]
    : ["order", waiting];
  const path = route.path
    .replace(":workflowName", workflowName)
    .replace(":instanceId", instanceId)
    .replace(":topic", "news")
    .replace(":stepIndex", "0");
  return { route, path, ...(route.method !== "GET" ? { body: bodies[route.action] ?? {} } : {}) };
});

export function requestOf(
  { route, path, body }: SampleRequest,
  headers: Record<string, string> = {},
): Request {
  return new Request(`http://localhost${path}`, {
    method: route.method,
    headers: { ...(body === undefined ? {} : { "content-type": "application/json" }), ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
}
