/**
 * While something is simulated, `Date`, `Math.random` and `crypto.randomUUID` mean the simulated time and chance to code
 * that runs inside, so that a workflow which uses them does the same in every replay of a seed. Code outside, another
 * test of the same process included, has the real ones all the while.
 */
import { currentWorker } from "./works.ts";

type Globals = typeof globalThis & { Date: DateConstructor };

let users = 0;
let restore: (() => void) | null = null;

export async function withSimulatedGlobals<Result>(code: () => Promise<Result>): Promise<Result> {
  if (users++ === 0) restore = install();
  try {
    return await code();
  } finally {
    if (--users === 0) {
      restore?.();
      restore = null;
    }
  }
}

function install(): () => void {
  const undo = [
    installDate(),
    installMethod(Math, "random", chance),
    installMethod(crypto, "randomUUID", uuid),
  ];
  return () => {
    for (const each of undo) each();
  };
}

function installDate(): () => void {
  const real = Date;
  const now = Reflect.get(real, "now") as () => number;
  const simulatedNow = (): number => currentWorker()?.now() ?? now.call(real);
  const simulated = new Proxy(real, {
    construct: (target, given, newTarget) =>
      Reflect.construct(target, given.length === 0 ? [simulatedNow()] : given, newTarget),
    apply: () => String(new real(simulatedNow())),
    get: (target, name) => (name === "now" ? simulatedNow : Reflect.get(target, name)),
  });
  (globalThis as Globals).Date = simulated;
  real.prototype.constructor = simulated;
  return () => {
    (globalThis as Globals).Date = real;
    real.prototype.constructor = real;
  };
}

/** `make` gives the simulated value, or undefined where the real one is meant. */
function installMethod<Target extends object>(
  target: Target,
  name: keyof Target & string,
  make: () => unknown,
): () => void {
  const real = Reflect.get(target, name) as (...given: unknown[]) => unknown;
  const own = Object.getOwnPropertyDescriptor(target, name);
  const value = (...given: unknown[]): unknown => make() ?? real.apply(target, given);
  Object.defineProperty(target, name, { value, configurable: true, writable: true });
  return () => {
    if (own) Object.defineProperty(target, name, own);
    else Reflect.deleteProperty(target, name);
  };
}

function chance(): number | undefined {
  return currentWorker()?.float();
}

function uuid(): string | undefined {
  const worker = currentWorker();
  if (!worker) return undefined;
  const hex = Array.from({ length: 32 }, () => Math.floor(worker.float() * 16).toString(16)).join("");
  const parts = [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `4${hex.slice(13, 16)}`,
    `a${hex.slice(17, 20)}`,
    hex.slice(20),
  ];
  return parts.join("-");
}
