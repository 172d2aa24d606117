import { type App, bearerToken, createQueueHandler, createWorkflows, type QueueBatch } from "everstep";
import { postgres } from "everstep/postgres";
import { delivery, order } from "./shop.ts";

interface Env {
  readonly HYPERDRIVE: { readonly connectionString: string };
  readonly HINTS: { send(hint: unknown): Promise<unknown> };
  readonly EVERSTEP_TOKEN: string;
  /** The schema that holds the tables. */
  readonly NAMESPACE: string;
}

interface Context {
  waitUntil(work: Promise<unknown>): void;
}

export default {
  async fetch(request: Request, env: Env, context: Context): Promise<Response> {
    const app = open(env);
    const response = await app.fetch(request);
    // Closed when the answer is out, which for a stream may take long.
    const { readable, writable } = new TransformStream();
    const sent = response.body === null ? Promise.resolve() : response.body.pipeTo(writable);
    context.waitUntil(sent.catch(() => {}).then(() => app.stop()));
    return new Response(response.body && readable, response);
  },

  /** What no hint told of, at the latest. */
  async scheduled(_event: unknown, env: Env): Promise<void> {
    await withApp(env, (app) => app.tick());
  },

  async queue(batch: QueueBatch, env: Env): Promise<void> {
    await withApp(env, (app) => createQueueHandler(app)(batch));
  },
};

/** Connections belong to the request that opened them here, so each has an app of its own. */
function open(env: Env): App {
  return createWorkflows({
    workflows: { ORDER: order, DELIVERY: delivery },
    store: postgres({ url: env.HYPERDRIVE.connectionString, namespace: env.NAMESPACE, max: 2 }),
    dispatcher: { wake: (hint) => env.HINTS.send(hint) },
    authorize: bearerToken(env.EVERSTEP_TOKEN),
    http: { basePath: "/api/workflows" },
  });
}

async function withApp(env: Env, work: (app: App) => Promise<unknown>): Promise<void> {
  const app = open(env);
  try {
    await work(app);
  } finally {
    await app.stop();
  }
}
