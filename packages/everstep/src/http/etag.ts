/** A weak tag of a text: two 32-bit hashes that go over it once. Equal texts have equal tags; it guards nothing. */
export function etagOf(text: string): string {
  return `W/"${digestOf(text)}"`;
}

export function digestOf(text: string): string {
  let first = 0x811c9dc5;
  let second = 0x9e3779b9;
  for (let at = 0; at < text.length; at++) {
    const char = text.charCodeAt(at);
    first = Math.imul(first ^ char, 0x01000193);
    second = Math.imul(second ^ char, 0x85ebca6b);
    second ^= second >>> 13;
  }
  return `${(first >>> 0).toString(36)}-${(second >>> 0).toString(36)}-${text.length.toString(36)}`;
}

/** Whoever asks has this already. */
export function isKnownTag(request: Request, etag: string): boolean {
  const known = request.headers.get("if-none-match") ?? "";
  return known.split(",").some((each) => each.trim() === etag);
}
