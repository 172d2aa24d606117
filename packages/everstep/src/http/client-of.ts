/**
 * Who asks: whom the hooks named. Where they name nobody, what the request may have proved it with; those who need no
 * proof are one. Headers alone would let one person be a thousand, with a cookie that nobody looks at.
 */
export function clientOf({ headers }: Request, actor: string | undefined): string {
  if (actor !== undefined) return `actor ${actor}`;
  const authorization = headers.get("authorization");
  if (authorization === null) return `cookie ${headers.get("cookie") ?? ""}`;
  const [scheme = "", ...rest] = authorization.trim().split(/\s+/);
  return `authorization ${[scheme.toLowerCase(), ...rest].join(" ")}`;
}
