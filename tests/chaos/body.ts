/** A body that leaves its marks: a line when it begins, a line when it ends, and a token of its own as its result. */
import { randomUUID } from "node:crypto";
import type { StepContext } from "everstep";
import type { EndLine, Ledger } from "./ledger.ts";
import { monotonic, pause } from "./time.ts";

/** What a marked body gives back, and what is recorded of it. */
export interface Mark {
  readonly token: string;
  readonly seen: readonly string[];
}

export interface MarkedWork {
  /** The tokens of everything that was recorded before, as the workflow has them in this passage. */
  readonly seen: readonly string[];
  readonly ms: number;
  /** Starts that throw, from the first. */
  readonly throws?: number;
  /** What else it does before it ends. */
  readonly then?: (token: string) => Promise<unknown> | unknown;
}

/** Runs work as the body of a step. It ends with its process, by itself, or when its signal says so: whichever is first. */
export async function runMarked(context: StepContext, ledger: Ledger, work: MarkedWork): Promise<Mark> {
  const { idempotencyKey: body, attempt: start, signal } = context;
  const { pid } = process;
  const { seen } = work;
  const token = randomUUID();
  let ended = false;
  const end = (how: EndLine["how"]): void => {
    if (!ended) ledger.write({ kind: "end", pid, at: monotonic(), token, how });
    ended = true;
  };
  ledger.write({ kind: "begin", pid, at: monotonic(), body, start, token, seen });
  signal.addEventListener("abort", () => end("aborted"));
  await pause(work.ms);
  if (!ended && start <= (work.throws ?? 0)) {
    end("failed");
    throw new Error(planned);
  }
  if (!ended) await work.then?.(token);
  end("done");
  return { token, seen };
}

/** The message of a failure that belongs to the plan. */
export const planned = "as planned";
