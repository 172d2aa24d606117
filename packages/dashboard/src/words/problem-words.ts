/** What the service says to programs, said to a person at this page. What is not here is said as it came. */

const words: Readonly<Record<string, string | ((message: string) => string)>> = {
  CONNECTION_FAILED: (message) =>
    /may have been carried out/.test(message)
      ? "The server did not answer. It may have been done all the same: look before you repeat it."
      : "The server does not answer. Is it running, and are you connected?",
  ANSWER_NOT_UNDERSTOOD:
    "Something else answered in place of the server: a proxy or a sign-in page, perhaps. Reload the page.",
  ROUTE_NOT_FOUND:
    "The server does not know what this page asks for. It may be of another version: reload the page.",
  METHOD_NOT_ALLOWED:
    "The server does not take what this page sends. It may be of another version: reload the page.",
  ORIGIN_NOT_ALLOWED: "The server does not take this from a page of another site.",
  APP_STOPPED: "The server is stopping. Try again in a moment.",
  STORE_UNAVAILABLE: (message) =>
    message.startsWith("There was no outcome")
      ? "The server has not heard yet whether it was done. Look in a moment, before you repeat it."
      : message,
  TOO_MANY_STREAMS: "Too many live views are open already. Close some tabs, or try again in a moment.",
  INVALID_CURSOR: "The list cannot be continued from here. Load it anew.",
  INSTANCE_ID_ALREADY_EXISTS:
    "There is an instance with this id already; it was left as it is. Use another id, or restart that one.",
  EVENT_BUFFER_FULL:
    "This instance holds as many events as it may that no step has taken. Nothing was sent; try again when it has gone on.",
};

export function spokenProblem(code: string, message: string): string {
  const said = Object.hasOwn(words, code) ? words[code] : undefined;
  return typeof said === "function" ? said(message) : (said ?? message);
}
