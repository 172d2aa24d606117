/** Which route a path means. Every segment is decoded exactly once and stays one segment. */
import { EverstepError } from "../model/error.ts";
import type { PathParams, Route } from "./route.ts";

export interface Match {
  readonly route: Route;
  readonly params: Partial<PathParams>;
}

export interface Found {
  /** Under the mount. */
  readonly path: string;
  /** The methods there are, for an Allow header. */
  readonly allow: string;
  of(method: string): Match | undefined;
}

interface Pattern {
  readonly route: Route;
  readonly segments: readonly string[];
}

export class Router {
  readonly #patterns: readonly Pattern[];
  readonly #base: readonly string[];
  /** First segments of routes: whatever else comes first is the name of a workflow, for short. */
  readonly #roots: ReadonlySet<string>;

  constructor(routes: readonly Route[], basePath = "") {
    this.#patterns = routes.map((route) => ({ route, segments: segmentsOf(route.path) }));
    this.#base = segmentsOf(basePath);
    this.#roots = new Set(this.#patterns.map(({ segments: [first = ""] }) => first));
  }

  find(pathname: string): Found {
    const sent = segmentsOf(pathname);
    for (const segment of sent) refuseNeedless(segment);
    const segments = this.#underMount(sent.map(decoded));
    const matches = this.#patterns.flatMap((pattern) => match(pattern, segments) ?? []);
    const path = `/${segments.map(encodeURIComponent).join("/")}`;
    if (matches.length === 0) throw notFound(path);
    const methods = matches.map(({ route }) => route.method);
    const allow = [...new Set(methods.flatMap((each) => (each === "GET" ? ["GET", "HEAD"] : [each])))];
    return {
      path,
      allow: allow.join(", "),
      // A route that names a segment is meant before one that takes any.
      of: (method) => matches.find(({ route }) => route.method === method),
    };
  }

  /** The path as it was sent, without the mount. */
  ownPath(pathname: string): string {
    const parts = pathname.split("/");
    const isMounted = this.#base.every((segment, at) => sameSegment(parts[at + 1], segment));
    return isMounted ? ["", ...parts.slice(this.#base.length + 1)].join("/") : pathname;
  }

  #underMount(segments: readonly string[]): readonly string[] {
    const isMounted = this.#base.every((segment, at) => segments[at] === segment);
    const own = isMounted ? segments.slice(this.#base.length) : segments;
    const [first = "", second] = own;
    return !this.#roots.has(first) && second === "instances" ? ["workflows", ...own] : own;
  }
}

function match({ route, segments: pattern }: Pattern, segments: readonly string[]): Match | undefined {
  if (pattern.length !== segments.length) return;
  const params: Record<string, string> = {};
  for (const [at, part] of pattern.entries()) {
    const segment = segments[at] as string;
    if (part.startsWith(":") ? segment === "" : part !== segment) return;
    if (part.startsWith(":")) params[part.slice(1)] = segment;
  }
  return { route, params };
}

/** A slash at the end means nothing; between two in a row is no name. */
function segmentsOf(path: string): string[] {
  const trimmed = path.replace(/^\//, "").replace(/\/$/, "");
  return trimmed === "" ? [] : trimmed.split("/");
}

function sameSegment(sent: string | undefined, segment: string): boolean {
  // What cannot be decoded is refused by who takes it for a route.
  return sent === segment || encodeURIComponent(segment) === sent;
}

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    throw new EverstepError("INVALID_ARGUMENT", "The path has a % that encodes nothing in UTF-8.");
  }
}

/**
 * A guard in front of the server compares paths as they are sent. A character that needs no encoding and has one anyway is
 * only there to get by it, so that it is refused: `/%5Frunner/tick` is not `/_runner/tick`.
 */
function refuseNeedless(segment: string): void {
  const needless = /%(?:2[dDeE]|3[0-9]|4[1-9a-fA-F]|5[0-9aAfF]|6[1-9a-fA-F]|7[0-9aA])/.exec(segment);
  if (needless === null) return;
  const character = decodeURIComponent(needless[0]);
  throw new EverstepError(
    "INVALID_ARGUMENT",
    `The path has ${needless[0]} where "${character}" is meant, which needs no encoding. Send it as it is.`,
  );
}

function notFound(path: string): EverstepError {
  return new EverstepError(
    "ROUTE_NOT_FOUND",
    `There is nothing at ${path.slice(0, 200)}. GET /openapi.json names everything there is; ` +
      "if this handler is mounted under a path, say so with http: { basePath }.",
  );
}
