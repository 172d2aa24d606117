/** Hunts a mutant in a child process, so that one that never comes to an end can be stopped. */
import { type ChildProcess, fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { StoreName } from "../stores.ts";

/** What the child is told. */
export interface Hunting {
  /** Folders that stand for the repository. */
  readonly mutated: string;
  readonly original: string;
  readonly seedsMax: number;
  /** Signatures of findings that do not count, because the code as it is has them too. */
  readonly known: readonly string[];
  /** The reference store unless given. */
  readonly store?: StoreName;
}

interface Found {
  readonly seed: number;
  readonly invariant: string;
  readonly message: string;
  readonly signature: string;
}

/** What the child tells. */
export type Hunted =
  | { readonly kind: "ready" }
  | { readonly kind: "seed"; readonly seed: number }
  | ({ readonly kind: "found" } & Found)
  | { readonly kind: "threw"; readonly seed: number; readonly message: string }
  | { readonly kind: "survived" };

export type Verdict = { readonly ms: number } & (
  | ({ readonly kind: "killed" } & Found)
  | { readonly kind: "survived" }
  /** Neither: the mutant did not load, or its process hung or died without a finding. */
  | { readonly kind: "unknown"; readonly message: string }
);

type Ending = { [Kind in Verdict["kind"]]: Omit<Extract<Verdict, { kind: Kind }>, "ms"> }[Verdict["kind"]];

export interface HuntOptions {
  readonly timeoutMs: number;
  readonly onSeed?: (seed: number) => void;
}

const hunted = fileURLToPath(new URL("./hunted.ts", import.meta.url));
const execArgv = ["--conditions=everstep-source", "--disable-warning=ExperimentalWarning"];
const underWay = new Set<ChildProcess>();

export function hunt(hunting: Hunting, { timeoutMs, onSeed }: HuntOptions): Promise<Verdict> {
  const startMs = performance.now();
  const stdio = ["ignore", "ignore", "pipe", "ipc"] as const;
  const child = fork(hunted, [JSON.stringify(hunting)], { execArgv, stdio: [...stdio] });
  underWay.add(child);
  return new Promise((resolve) => {
    let seed = 0;
    let isReady = false;
    let complaint = "";
    const end = (ending: Ending): void => {
      clearTimeout(timer);
      underWay.delete(child);
      child.kill("SIGKILL");
      resolve({ ...ending, ms: performance.now() - startMs } as Verdict);
    };
    const unknown = (message: string): void => end({ kind: "unknown", message });
    const timer = setTimeout(
      () => unknown(`not through after ${timeoutMs / 1000} s, at seed ${seed}`),
      timeoutMs,
    );
    child.stderr?.on("data", (text) => {
      complaint = `${complaint}${text}`.slice(-2000);
    });
    child.once("exit", (code, signal) =>
      unknown(`ended with ${signal ?? code} at seed ${seed}: ${complaint}`),
    );
    child.on("message", (word: Hunted) => {
      switch (word.kind) {
        case "ready":
          isReady = true;
          return;
        case "seed":
          seed = word.seed;
          return onSeed?.(seed);
        case "found":
          return end({ ...word, kind: "killed" });
        case "threw": {
          const { message } = word;
          if (!isReady) return unknown(`did not load: ${message}`);
          return end({
            kind: "killed",
            seed,
            invariant: "a throw in the world",
            message,
            signature: "a throw",
          });
        }
        case "survived":
          return end({ kind: "survived" });
      }
    });
  });
}

/** What the code as it is breaks: nothing, unless there is a bug, or the simulation cries wolf. */
export async function survey(
  original: string,
  seedsMax: number,
  options: HuntOptions,
  store: StoreName = "memory",
): Promise<readonly Found[]> {
  const found: Found[] = [];
  for (;;) {
    const known = found.map(({ signature }) => signature);
    const verdict = await hunt({ mutated: original, original, seedsMax, known, store }, options);
    if (verdict.kind === "survived") return found;
    if (verdict.kind === "unknown")
      throw new Error(`The code as it is could not be surveyed: ${verdict.message}`);
    found.push(verdict);
  }
}

/** Ends all hunts under way at once. */
export function callOff(): void {
  for (const child of underWay) child.kill("SIGKILL");
}
