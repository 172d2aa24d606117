/** What an error of Redis or of its driver means for the caller: may it be repeated, and what can a person do about it. */
import { type ErrorCode, EverstepError, StoreError, type StoreFailure } from "../../../model/error.ts";
import type { RedisSettings } from "../options.ts";

/** Whether the command had been sent, and whether it could have changed anything. */
export type FailedWhile = "connecting" | "reading" | "writing";

export function storeFailure(error: unknown, settings: RedisSettings, during: FailedWhile): EverstepError {
  if (error instanceof EverstepError) return error;
  return failureOf(error, meaning(error, settings, during));
}

/** Something was done, and the answer to what was asked about it afterwards did not come. */
export function unansweredFailure(error: unknown, settings: RedisSettings): EverstepError {
  return failureOf(error, lostConnection(placeOf(settings), "writing"));
}

function failureOf(error: unknown, { failure, code, sentence }: Meaning): StoreError {
  const said = messageOf(error);
  return new StoreError(failure, code, `${sentence} (${said === "" ? "no message" : `Redis: ${said}`})`, {
    cause: withoutArguments(error),
    details: { answer: answerOf(error) },
  });
}

/** Host and port, never the user or the password. */
export function placeOf(settings: RedisSettings): string {
  return `Redis at ${hostOf(settings.url)}, namespace "${settings.namespace}"`;
}

export function closedFailure(settings: RedisSettings): StoreError {
  return new StoreError(
    "fatal",
    "STORE_CLOSED",
    `${placeOf(settings)}: this store was closed. Open a new store to go on.`,
  );
}

/** The first word of an answer of the server: "WRONGTYPE"; of the driver's own errors, their code. */
export function answerOf(error: unknown): string {
  const { code, message } = (error ?? {}) as { code?: unknown; message?: unknown };
  if (typeof code === "string" && code !== "") return code;
  const said = String(message ?? "");
  // Redis 6 puts what a command in a script answered behind words of its own.
  const inScript = /@user_script: ?\d+: -?([A-Z][A-Z0-9]+) /.exec(said);
  return (inScript ?? /^-?([A-Z][A-Z0-9]+)(?: |$)/.exec(said))?.[1] ?? "";
}

interface Meaning {
  readonly failure: StoreFailure;
  readonly code: ErrorCode;
  readonly sentence: string;
}

function meaning(error: unknown, settings: RedisSettings, during: FailedWhile): Meaning {
  const place = placeOf(settings);
  switch (answerOf(error)) {
    case "EVERSTEPGONE":
      return is(
        "fatal",
        "STORE_CORRUPT",
        `${place}: the data was removed or replaced while this process was using it, so nothing was written. ` +
          "Find out what happened to it (FLUSHALL, a restore, another server behind the same name), then restart the process.",
      );
    case "EVERSTEPFOREIGN":
      return is(
        "fatal",
        "STORE_NOT_OURS",
        `${place}: there are keys of something else; nothing was changed. Choose another \`namespace\`.`,
      );
    case "EVERSTEPPART":
      return is(
        "ambiguous",
        "STORE_FAILED",
        `${place} refused a command when part of what was asked had been done. Try again: only what it is about fails then.`,
      );
    case "OOM":
      return is(
        "unavailable",
        "STORE_FULL",
        `${place} is out of memory, so nothing was written. Give it more (maxmemory) or prune old instances.`,
      );
    case "MISCONF":
      return is(
        "unavailable",
        "STORE_FULL",
        `${place} refuses writes because it cannot save to its disk. Free some space and look at its log.`,
      );
    case "READONLY":
      return is(
        "unavailable",
        "STORE_READ_ONLY",
        `${place} is a replica, which cannot be written. Connect to the primary.`,
      );
    case "LOADING":
    case "MASTERDOWN":
    case "CLUSTERDOWN":
    case "NOREPLICAS":
      return is("unavailable", "STORE_UNAVAILABLE", `${place} is not ready to work; try again in a moment.`);
    case "BUSY":
      return is("conflict", "STORE_BUSY", `${place} is busy with a long script; try again in a moment.`);
    case "TRYAGAIN":
    case "ASK":
      return is(
        "unavailable",
        "STORE_UNAVAILABLE",
        `${place}: the cluster is moving the namespace to another node, so nothing was done. It goes on when that is over.`,
      );
    case "MOVED":
      return is(
        "unavailable",
        "STORE_UNAVAILABLE",
        `${place}: the nodes of the cluster do not agree which of them serves the slot of "{${settings.namespace}}". ` +
          "Try again in a moment.",
      );
    case "NOAUTH":
    case "WRONGPASS":
      return is("fatal", "STORE_FAILED", `${place} wants another user or password. Check the url.`);
    case "NOPERM":
      return is(
        "fatal",
        "STORE_FAILED",
        `${place}: the user may not run a command the store needs. Allow it all commands on the keys and the channel of ` +
          "the namespace (ACL: ~{namespace}* &{namespace}* +@all -@dangerous +info +config|get).",
      );
    case "ECONNREFUSED":
    case "ENOTFOUND":
    case "EAI_AGAIN":
    case "EHOSTUNREACH":
    case "ENETUNREACH":
      return is(
        "unavailable",
        "STORE_UNAVAILABLE",
        `${place} cannot be reached. Check that it runs there and that its port is open.`,
      );
    default:
      return otherwise(error, place, during);
  }
}

function otherwise(error: unknown, place: string, during: FailedWhile): Meaning {
  // Answers of the server are ReplyErrors; everything else comes from the driver or the socket.
  if (error instanceof Error && error.name === "ReplyError") {
    return is("fatal", "STORE_FAILED", `${place} refused a command.`);
  }
  if (during === "connecting" && /CERT|TLS|SSL/.test(answerOf(error))) {
    return is(
      "fatal",
      "STORE_FAILED",
      `${place} cannot be reached by TLS. Check that it speaks TLS (rediss://) and that its certificate is trusted here.`,
    );
  }
  return lostConnection(place, during);
}

/** The connection broke or the answer did not come in time. What was sent may have been done. */
function lostConnection(place: string, during: FailedWhile): Meaning {
  if (during === "writing") {
    return is(
      "ambiguous",
      "STORE_UNAVAILABLE",
      `${place} did not answer; whether it did what was asked is unknown. Try again.`,
    );
  }
  return is("unavailable", "STORE_UNAVAILABLE", `${place} did not answer. Try again.`);
}

function is(failure: StoreFailure, code: ErrorCode, sentence: string): Meaning {
  return { failure, code, sentence };
}

/** The driver hangs the command with all its arguments on its errors: payloads, and the password of AUTH. */
function withoutArguments(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const bare = new Error(messageOf(error));
  bare.name = error.name;
  if (error.stack !== undefined) bare.stack = error.stack;
  return bare;
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function hostOf(url: string): string {
  try {
    const { hostname, port } = new URL(url);
    return `${hostname || "localhost"}:${port || "6379"}`;
  } catch {
    return "an address that cannot be read";
  }
}
