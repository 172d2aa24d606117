import { createHash } from "node:crypto";

/** A Lua text and the name under which the server keeps it. */
export interface Script {
  /** The verb it serves, for messages. */
  readonly name: string;
  readonly lua: string;
  readonly sha: string;
}

/** Puts a script together from its parts, each of which may use those before it. */
export function script(name: string, ...parts: readonly string[]): Script {
  const lua = parts.join("");
  return { name, lua, sha: createHash("sha1").update(lua).digest("hex") };
}
