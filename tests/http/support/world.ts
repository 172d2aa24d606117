/** One app behind a listening server, on one store, with a clock in the test's hands. */
import { type AppOptions, allowAll, createWorkflows } from "everstep";
import { type Served, serve } from "everstep/node";
import type { Store } from "everstep/store";
import { createFakeRuntime, type FakeRuntime } from "everstep/testing";
import { type Answer, checkedAnswer, matchOf } from "./checked-answer.ts";
import { everyRoute } from "./sample-requests.ts";
import type { Data } from "./stores.ts";
import { workflows } from "./workflows.ts";

type WorkflowName = (typeof workflows)[keyof typeof workflows]["name"];
type SampleApp = ReturnType<typeof openApp>;
type Headers = Readonly<Record<string, string>>;

interface WorldParts {
  readonly store: Store;
  readonly runtime: FakeRuntime;
  readonly app: SampleApp;
  readonly served: Served;
}

export class World {
  readonly store: Store;
  readonly runtime: FakeRuntime;
  readonly app: SampleApp;
  /** What each route has answered: `pause INSTANCE_TERMINAL`, `pause 200`. */
  readonly seen = new Set<string>();
  readonly #served: Served;
  #ids = 0;

  constructor({ store, runtime, app, served }: WorldParts) {
    this.store = store;
    this.runtime = runtime;
    this.app = app;
    this.#served = served;
  }

  get url(): string {
    return this.#served.url;
  }

  /** An id that nobody has. */
  id(word = "i"): string {
    this.#ids += 1;
    return `${word}-${this.#ids}`;
  }

  async ask(
    method: string,
    path: string,
    { body, headers = {} }: { readonly body?: unknown; readonly headers?: Headers } = {},
  ): Promise<Answer> {
    const isJson = body !== undefined && typeof body !== "string";
    const response = await fetch(new URL(path.slice(1), this.url), {
      method,
      headers: { ...(body === undefined ? {} : { "content-type": "application/json" }), ...headers },
      ...(body === undefined ? {} : { body: isJson ? JSON.stringify(body) : (body as string) }),
    });
    const answer = await checkedAnswer({ method, path }, response);
    const action = matchOf({ method, path })?.route.action;
    if (action !== undefined && method !== "HEAD") this.seen.add(`${action} ${answer.code ?? answer.status}`);
    return answer;
  }

  get(path: string, headers: Headers = {}): Promise<Answer> {
    return this.ask("GET", path, { headers });
  }

  post(path: string, body: unknown = {}, headers: Headers = {}): Promise<Answer> {
    return this.ask("POST", path, { body, headers });
  }

  /** A new instance, brought as far as it comes by itself. Gives its path. */
  async made(name: WorkflowName, params: unknown = {}, id = this.id(name)): Promise<string> {
    const { status } = await this.post(instancesOf(name), { id, params });
    if (status !== 201) throw new Error(`${name} ${id} was not created: ${status}`);
    await this.run();
    return `${instancesOf(name)}/${id}`;
  }

  /** Everything that is due now. */
  async run(): Promise<void> {
    while ((await this.app.tick()).processed > 0);
  }

  /** Time, and everything that becomes due in it. */
  async pass(duration: string): Promise<void> {
    await this.runtime.advance(duration as `${number} hour`);
    await this.run();
  }

  async end(): Promise<void> {
    await this.#served.close();
    await this.app.stop();
  }
}

export async function beginWorld(data: Data): Promise<World> {
  const store = data.open();
  const runtime = createFakeRuntime();
  const app = openApp(store, { runtime, onNotice: () => {} });
  await app.migrate();
  return new World({ store, runtime, app, served: await serve(app, { port: 0 }) });
}

export function instancesOf(name: WorkflowName): string {
  return `/workflows/${name}/instances`;
}

/** Small limits, so that tests come to them with little. */
export function openApp(
  store: Store,
  options: Omit<AppOptions<typeof workflows>, "workflows" | "store"> = {},
) {
  return createWorkflows({
    workflows,
    store,
    authorize: allowAll(),
    http: everyRoute,
    limits: { maxParamsBytes: 2000, maxEventBytes: 2000, maxBufferedEvents: 3 },
    ...options,
  });
}
