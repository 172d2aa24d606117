/** What the HTTP API of an app is set to, checked when it is made. */
import { EverstepError } from "../model/error.ts";
import { checkNames, type NamesOf } from "../model/known-names.ts";
import { type Authorize, checkAuthorize } from "./authorize.ts";
import type { Dashboard } from "./dashboard/dashboard.ts";
import type { CorsOptions } from "./origin.ts";

export interface HttpOptions {
  /** Where it is mounted, if nobody takes that off before: "/api/workflows". */
  readonly basePath?: string;
  /** Answers POST /_runner/tick, for hosts without a loop. Default: no. */
  readonly tick?: boolean;
  /** Pages of other origins that may use it. Default: none. */
  readonly cors?: CorsOptions;
  /** The only values of Host that are answered, and of Origin's host; for what must stay on this machine. */
  readonly hosts?: readonly string[];
  /** Bytes of a body at most; a batch may have 16 MiB. Default: 1 MiB and a little. */
  readonly maxBodyBytes?: number;
  /** Streams open at once at most. Default: 1,000. */
  readonly maxStreams?: number;
  /** Of one client: whom hooks name with `{ actor }`, else who has the same Authorization or Cookie. Default: 200. */
  readonly maxStreamsPerClient?: number;
  /** Serves it under /dashboard/: `import { dashboard } from "everstep/dashboard"`. Default: none. */
  readonly dashboard?: Dashboard;
  /** Answers POST /_dev/kill, and is then called to kill this process soon. Default: there is no such route. */
  readonly onKill?: () => void;
}

export interface HandlerOptions extends HttpOptions {
  readonly authorize?: Authorize;
}

const optionNames: NamesOf<HandlerOptions> = {
  basePath: true,
  tick: true,
  cors: true,
  hosts: true,
  maxBodyBytes: true,
  maxStreams: true,
  maxStreamsPerClient: true,
  dashboard: true,
  onKill: true,
  authorize: true,
};

export function checkHttp(options: HandlerOptions): void {
  checkNames(options, optionNames, "http");
  checkAuthorize(options.authorize);
  for (const name of ["maxBodyBytes", "maxStreams", "maxStreamsPerClient"] as const)
    checkMost(name, options[name]);
}

/** A limit that is no number would be none at all. */
function checkMost(name: string, most: unknown): void {
  if (most === undefined || (typeof most === "number" && most >= 0)) return;
  throw new EverstepError(
    "INVALID_ARGUMENT",
    `http.${name} is ${String(most)}; it must be a number, at least 0.`,
  );
}
