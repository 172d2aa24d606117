/** Who asks, as far as a request says it: by what it proves who it is. Those who need no proof are one. */
export function clientOf({ headers }: Request): string {
  const authorization = headers.get("authorization");
  if (authorization === null) return headers.get("cookie") ?? "";
  const [scheme = "", ...rest] = authorization.trim().split(/\s+/);
  return [scheme.toLowerCase(), ...rest].join(" ");
}
