/** What the two processes of `everstep dev` say to each other: the supervisor gives orders, the child reports. */
import type { LoadProblem } from "../user-file/load-problem.ts";

export type Order =
  /** Listen on the first of these ports that is free, and let in whoever has the token. */
  | {
      readonly kind: "start";
      readonly ports: readonly number[];
      readonly why: StartReason;
      readonly token: string;
    }
  /** Others know the address now: say so, and run. */
  | { readonly kind: "run" }
  /** End gracefully. `isLast`: nobody follows. */
  | { readonly kind: "stop"; readonly graceMs: number; readonly isLast: boolean };

/** The first time, with new code, or after a process that died. */
export type StartReason = "first" | "changed" | "died";

export type Report =
  /** The file can be run; nothing has been opened or begun yet. */
  | { readonly kind: "loaded"; readonly files: readonly string[] }
  /** The file cannot be run, and this process ends. */
  | { readonly kind: "failed"; readonly files: readonly string[]; readonly problem: LoadProblem }
  /** `takesToken`: it is the token that it asks for, not what the app itself has hooks for. */
  | {
      readonly kind: "listening";
      readonly url: string;
      readonly port: number;
      readonly takesToken: boolean;
    }
  | { readonly kind: "serving" }
  /** It was told to start and could not. `isFinal`: no change of the file would help. */
  | { readonly kind: "refused"; readonly message: string; readonly hint?: string; readonly isFinal: boolean };

/** Set for the child, which is the same program called again. */
export const childVariable = "EVERSTEP_DEV_CHILD";
