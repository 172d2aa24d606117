/** The command line in this process, on an app that needs no port: as cheap as a call. */

import { systemRuntime } from "everstep";
import { createClient } from "everstep/client";
import { createOutput, type Output } from "../../../packages/everstep/src/cli/output/output.ts";
import { commands } from "../../../packages/everstep/src/cli/registry.ts";
import { runCli, type World } from "../../../packages/everstep/src/cli/run-cli.ts";
import { shellWords } from "./shell-words.ts";

export interface Told {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** A line as it is typed after `everstep`. */
export type Teller = (line: string, options?: TellOptions) => Promise<Told>;

export interface TellOptions {
  /** There is a person at a terminal, who answers every question so. */
  readonly answer?: string;
  readonly now?: number;
  readonly signal?: AbortSignal;
  readonly onOutput?: (text: string) => void;
  readonly onError?: (text: string) => void;
}

export function tellerOf(fetch: (request: Request) => Promise<Response>): Teller {
  return async (line, { answer, now, signal, onOutput, onError } = {}) => {
    let out = "";
    let err = "";
    const isTerminal = answer !== undefined;
    const output = (write: (text: string) => void): Output =>
      createOutput({ isTerminal, columns: Number.POSITIVE_INFINITY, colour: false, write });
    const world: World = {
      commands,
      version: "0.0.0",
      out: output((text) => {
        out += text;
        onOutput?.(out);
      }),
      err: output((text) => {
        err += text;
        onError?.(err);
      }),
      input: {
        isTerminal,
        read: async () => "",
        async ask(question) {
          err += question;
          return answer ?? null;
        },
      },
      env: { EVERSTEP_URL: "http://127.0.0.1/" },
      cwd: "/",
      home: "/nobody",
      runtime: now === undefined ? systemRuntime : { ...systemRuntime, now: () => now },
      signal: signal ?? new AbortController().signal,
      createClient: (settings) =>
        createClient({ ...settings, fetch: (input, init) => fetch(new Request(input, init)) }),
    };
    const code = await runCli(shellWords(line), world);
    return { code, out, err };
  };
}
