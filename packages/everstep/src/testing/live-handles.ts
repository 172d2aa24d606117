import type { WorkflowDefinition } from "../authoring/define-workflow.ts";
import type { App } from "../client/app.ts";
import { LocalInstanceHandle } from "../client/instance-handle.ts";
import type { InstanceHandle } from "../handles/instance-handle.ts";

type AnyApp = Pick<App, "workflows">;
type AnyMethod = (...args: unknown[]) => unknown;

/**
 * Handles that stay good when the process behind them is replaced: every call goes to the app that is in front now. The
 * calls themselves are the shipped ones.
 */
export function liveHandles(
  workflows: Record<string, WorkflowDefinition>,
  front: () => AnyApp,
): AnyApp["workflows"] {
  const live = Object.keys(workflows).map((key) => {
    const current = (): object => front().workflows[key] as object;
    return [
      key,
      forwarding(
        current(),
        (name) =>
          (...args) =>
            call(current(), name, args, key, front),
      ),
    ];
  });
  return Object.fromEntries(live) as AnyApp["workflows"];
}

/** Which workflow a live handle of an instance belongs to, by its key in the app. */
export function workflowKeyOf(handle: object): string | undefined {
  return keys.get(handle);
}

const keys = new WeakMap<object, string>();

function liveInstance(handle: InstanceHandle, key: string, front: () => AnyApp): InstanceHandle {
  const made = front();
  const live = forwarding(handle, (name) => (...args) => {
    const isSame = front() === made;
    const current = isSame ? handle : front().workflows[key]?.at(handle.id);
    return call(current as InstanceHandle, name, args, key, front);
  });
  keys.set(live, key);
  return live;
}

/** Answers when the shipped call does: `at` at once, the others later. */
function call(target: object, name: PropertyKey, args: unknown[], key: string, front: () => AnyApp): unknown {
  const result = (Reflect.get(target, name) as AnyMethod).apply(target, args);
  return result instanceof Promise
    ? result.then((answer) => withLiveInstances(answer, key, front))
    : withLiveInstances(result, key, front);
}

/** `create` and `at` give a handle, `createBatch` several, `restartOrCreate` one beside its outcome. */
function withLiveInstances(result: unknown, key: string, front: () => AnyApp): unknown {
  if (result instanceof LocalInstanceHandle) return liveInstance(result, key, front);
  if (Array.isArray(result)) return result.map((item) => withLiveInstances(item, key, front));
  if (typeof result !== "object" || result === null || !("instance" in result)) return result;
  return { ...result, instance: withLiveInstances(result.instance, key, front) };
}

function forwarding<Target extends object>(target: Target, method: (name: PropertyKey) => AnyMethod): Target {
  return new Proxy(target, {
    get(original, name) {
      const value = Reflect.get(original, name);
      return typeof value === "function" && name !== "constructor" ? method(name) : value;
    },
  });
}
