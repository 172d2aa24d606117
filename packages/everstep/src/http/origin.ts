/** Requests that a browser sends for somebody else's page: told apart by Host, Origin and Sec-Fetch-Site. */
import { EverstepError } from "../model/error.ts";

export interface CorsOptions {
  /** Exact origins, such as https://admin.example.com. */
  readonly origins: readonly string[];
}

export interface OriginRules {
  /** The only values of Host that are answered; for addresses that must not be reached under another name. */
  readonly hosts: ReadonlySet<string> | null;
  readonly origins: ReadonlySet<string>;
}

export function originRules(
  hosts: readonly string[] | undefined,
  cors: CorsOptions | undefined,
): OriginRules {
  for (const origin of cors?.origins ?? []) checkOrigin(origin);
  return {
    hosts: hosts ? new Set(hosts.map((host) => host.toLowerCase())) : null,
    origins: new Set(cors?.origins),
  };
}

function checkOrigin(origin: string): void {
  if (URL.canParse(origin) && new URL(origin).origin === origin && !origin.includes("*")) return;
  throw new EverstepError(
    "INVALID_ARGUMENT",
    `${JSON.stringify(origin)} is no origin. Name each exactly, such as "https://admin.example.com"; patterns are not offered.`,
  );
}

/** Throws when the request comes under another name, or from a page that has no business here. */
export function checkOrigins(request: Request, url: URL, rules: OriginRules, isWrite: boolean): void {
  if (rules.hosts) checkHost(request, url, rules.hosts);
  const origin = request.headers.get("origin");
  if (origin !== null && rules.origins.has(origin)) return;
  const isGuarded = isWrite || (rules.hosts !== null && !isVisit(request));
  if (isGuarded && isForeign(request, url, origin, rules.hosts)) throw originNotAllowed(origin);
}

/** A person followed a link, in a window of its own: the page that has the link sees nothing of what is answered. */
function isVisit({ headers }: Request): boolean {
  return headers.get("sec-fetch-mode") === "navigate" && headers.get("sec-fetch-dest") === "document";
}

export function checkHost(request: Request, url: URL, hosts: ReadonlySet<string>): void {
  const host = request.headers.get("host")?.toLowerCase();
  if (host !== undefined && hosts.has(host) && hosts.has(url.host.toLowerCase())) return;
  throw new EverstepError(
    "HOST_NOT_ALLOWED",
    `This address is answered only under its own name (${[...hosts].join(", ")}).`,
  );
}

function isForeign(
  request: Request,
  url: URL,
  origin: string | null,
  hosts: ReadonlySet<string> | null,
): boolean {
  const site = request.headers.get("sec-fetch-site");
  if (site === "cross-site" || site === "same-site") return true;
  if (origin === null) return false;
  if (hosts) return !URL.canParse(origin) || !hosts.has(new URL(origin).host.toLowerCase());
  // Behind a proxy the host may be another one; a browser that says same-origin knows better.
  if (site === "same-origin") return false;
  const forwarded = request.headers.get("x-forwarded-host");
  return !URL.canParse(origin) || ![url.host, forwarded].includes(new URL(origin).host);
}

function originNotAllowed(origin: string | null): EverstepError {
  return new EverstepError(
    "ORIGIN_NOT_ALLOWED",
    `A page of another site${origin === null ? "" : ` (${JSON.stringify(origin.slice(0, 200))})`} sent this. ` +
      "If it may, name its origin: http: { cors: { origins: [...] } }.",
  );
}

/** What lets a page of an allowed origin read the answer. */
export function corsHeaders(request: Request, rules: OriginRules): Record<string, string> {
  if (rules.origins.size === 0) return {};
  const origin = request.headers.get("origin");
  if (origin === null || !rules.origins.has(origin)) return { vary: "Origin" };
  return {
    vary: "Origin",
    "access-control-allow-origin": origin,
    "access-control-expose-headers": "etag, retry-after",
  };
}

/** What a browser asks before it sends anything but the simplest. */
export function preflightHeaders(allow: string): Record<string, string> {
  return {
    allow,
    "access-control-allow-methods": allow,
    "access-control-allow-headers":
      "authorization, content-type, idempotency-key, if-none-match, last-event-id",
    "access-control-max-age": "600",
  };
}
