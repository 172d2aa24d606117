import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  createWorkflowsFragment,
  type FragnoRuntime,
  type WorkflowsFragment,
  type WorkflowsFragmentConfig,
  type WorkflowsRegistry,
} from "everstep/fragment";
import { memory } from "everstep/memory";
import { sqlite } from "everstep/sqlite";
import type { Store } from "everstep/store";
import { afterEach, describe } from "vitest";
import { Namespaces, serverStores } from "../support/server-stores.ts";

export const begun = Date.UTC(2026, 0, 1);
const open: { stop(): Promise<unknown> }[] = [];
const cleanUps: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const fragment of open.splice(0)) await fragment.stop();
  for (const act of cleanUps.splice(0)) await act();
});

/** The same host on every store. */
export function onEachStore(title: string, tests: (openStore: () => Store) => void): void {
  describe(`${title} (memory)`, () => tests(() => memory()));
  describe(`${title} (sqlite)`, () =>
    tests(() => {
      const folder = mkdtempSync(join(tmpdir(), "everstep-fragment-"));
      cleanUps.push(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
      return sqlite({ path: join(folder, "app.db"), synchronous: "normal" });
    }));
  for (const server of serverStores) {
    describe.skipIf(server.url === undefined)(`${title} (${server.name})`, () => {
      const namespaces = new Namespaces(server);
      tests(() => {
        const namespace = namespaces.take();
        cleanUps.push(() => namespaces.giveBack(namespace));
        return server.open(namespace);
      });
    });
  }
}

/** A clock that only the test moves, and ids that count: nothing but what the interface asks for. */
export function testRuntime(): FragnoRuntime & { advance(ms: number): void } {
  let now = begun;
  let ids = 0;
  return {
    time: { now: () => new Date(now) },
    random: {
      float: () => 0.5,
      uuid: () => `00000000-0000-4000-8000-${String(++ids).padStart(12, "0")}`,
      cuid: () => `c${++ids}`,
    },
    advance: (ms) => {
      now += ms;
    },
  };
}

/** The same, where a pause before another try costs no time. */
export function impatientRuntime(): ReturnType<typeof testRuntime> {
  const runtime = testRuntime();
  const timer = (callback: () => void, delayMs: number) => {
    const handle = setTimeout(callback, delayMs < 2000 ? 0 : delayMs);
    return { cancel: () => clearTimeout(handle) };
  };
  return { ...runtime, time: { ...runtime.time, timer } };
}

export interface Told {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: JSON of any route
  readonly body: any;
}

/** A fragment with a clock in the test's hands, and a way to call its routes. */
export function host<Workflows extends WorkflowsRegistry>(
  store: Store,
  config: Omit<WorkflowsFragmentConfig<Workflows>, "runtime">,
  runtime = testRuntime(),
): {
  readonly fragment: WorkflowsFragment<Workflows>;
  readonly runtime: ReturnType<typeof testRuntime>;
  get(path: string): Promise<Told>;
  post(path: string, body?: unknown, headers?: Record<string, string>): Promise<Told>;
} {
  const fragment = createWorkflowsFragment({ ...config, runtime }, { store, onNotice: () => {} });
  open.push(fragment);
  const call = async (path: string, init: RequestInit): Promise<Told> => {
    const response = await fragment.handler(new Request(`http://host${fragment.mountRoute}${path}`, init));
    return { status: response.status, body: await response.json() };
  };
  return {
    fragment: fragment as WorkflowsFragment<Workflows>,
    runtime,
    get: (path) => call(path, {}),
    post: (path, body = {}, headers = {}) =>
      call(path, {
        method: "POST",
        headers: { "content-type": "application/json", ...headers },
        body: JSON.stringify(body),
      }),
  };
}
