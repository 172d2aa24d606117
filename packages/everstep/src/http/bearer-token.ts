import { EverstepError } from "../model/error.ts";
import { type Authorize, refuse } from "./authorize.ts";
import { sameBytes } from "./same-bytes.ts";

export interface BearerTokenOptions {
  /** May do everything. Several, so that one can be replaced without a gap. */
  readonly tokens?: string | readonly string[];
  /** May look and nothing else. */
  readonly readOnlyTokens?: string | readonly string[];
}

/** Shorter ones can be guessed. */
const lengthMin = 16;

/** Asks for `Authorization: Bearer <token>`. Who has none is answered 401; a reader who wants to write, 403. */
export function bearerToken(given: string | readonly string[] | BearerTokenOptions | undefined): Authorize {
  const options = isOptions(given) ? given : { tokens: given ?? [] };
  const all = checked([options.tokens ?? []].flat());
  const readers = checked([options.readOnlyTokens ?? []].flat());
  if (all.length + readers.length === 0) {
    throw new EverstepError(
      "INVALID_ARGUMENT",
      "bearerToken got no token. Is the environment variable set? Pass a text of at least 16 characters.",
    );
  }
  const mayWrite = digests(all);
  const mayRead = digests(readers);
  const writersOnly = ({ state }: { readonly state: Map<string, unknown> }): Response | undefined =>
    state.get(role) === "all" ? undefined : onlyLooks();
  return {
    async request({ request, method, state }) {
      const token = tokenOf(request);
      if (token === null) return refuse(401, "Send a token: authorization: Bearer <token>.");
      const digest = await digestOf(token);
      // Every one is compared, so that the time says nothing about which.
      const isWriter = isAmong(digest, await mayWrite());
      const isReader = isAmong(digest, await mayRead());
      if (!isWriter && !isReader) return refuse(401, "This token is not known here.");
      // Before its body is read, which may be large.
      if (!isWriter && method !== "GET") return onlyLooks();
      state.set(role, isWriter ? "all" : "read");
    },
    read: () => {},
    instanceCreation: writersOnly,
    management: writersOnly,
    sendEvent: writersOnly,
    runnerTick: writersOnly,
  };
}

const role = "everstep.bearer";

function onlyLooks(): Response {
  return refuse(403, "This token may look, but change nothing.");
}

function isOptions(given: unknown): given is BearerTokenOptions {
  return typeof given === "object" && given !== null && !Array.isArray(given);
}

function checked(tokens: readonly string[]): readonly string[] {
  for (const token of tokens) {
    if (typeof token === "string" && token.length >= lengthMin && /^[\x21-\x7e]+$/.test(token)) continue;
    throw new EverstepError(
      "INVALID_ARGUMENT",
      `A token must be at least ${lengthMin} visible ASCII characters without spaces; one of yours is not.`,
    );
  }
  return tokens;
}

function tokenOf(request: Request): string | null {
  const [, token] = /^Bearer +([\x21-\x7e]{1,4096})$/i.exec(request.headers.get("authorization") ?? "") ?? [];
  return token ?? null;
}

function digests(tokens: readonly string[]): () => Promise<readonly Uint8Array[]> {
  let made: Promise<readonly Uint8Array[]> | null = null;
  return () => {
    made ??= Promise.all(tokens.map(digestOf));
    return made;
  };
}

async function digestOf(token: string): Promise<Uint8Array> {
  return new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(token)));
}

function isAmong(digest: Uint8Array, known: readonly Uint8Array[]): boolean {
  let found = 0;
  for (const each of known) found |= Number(sameBytes(digest, each));
  return found === 1;
}
