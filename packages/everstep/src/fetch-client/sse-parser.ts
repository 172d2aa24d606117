/** Reads `text/event-stream` as the HTML standard defines it, from text that arrives in pieces of any size. */
import { EverstepError } from "../model/error.ts";

export interface ServerEvent {
  /** `message` unless it was named. */
  readonly type: string;
  readonly data: string;
  /** Of this event or of the last one before it that had one; empty when none had. */
  readonly id: string;
}

/** Longer than any event of the API; an endless line must not fill the memory. */
const charsMax = 64 * 1024 * 1024;

export class SseParser {
  readonly #charsMax: number;
  /** What has come of a line that has not ended. */
  #line: string[] = [];
  /** The text before ended with CR: an LF that comes next belongs to it. */
  #endedWithCr = false;
  #type = "";
  #data: string[] = [];
  /** What is held: of the line, and of the event it belongs to. */
  #lineChars = 0;
  #dataChars = 0;
  #lastEventId = "";
  #retryMs: number | null = null;

  constructor(options: { readonly lastEventId?: string; readonly charsMax?: number } = {}) {
    this.#lastEventId = options.lastEventId ?? "";
    this.#charsMax = options.charsMax ?? charsMax;
  }

  /** How long the server wants a client to wait before it connects again; null until it says so. */
  get retryMs(): number | null {
    return this.#retryMs;
  }

  /** The events that this text completes. */
  push(text: string): ServerEvent[] {
    const events: ServerEvent[] = [];
    const rest = this.#endedWithCr && text.startsWith("\n") ? text.slice(1) : text;
    if (text !== "") this.#endedWithCr = text.endsWith("\r");
    const lines = rest.split(/\r\n|\n|\r/);
    const unfinished = lines.pop() ?? "";
    for (const end of lines) {
      const event = this.#takeLine(this.#line.join("") + end);
      this.#line = [];
      this.#lineChars = 0;
      if (event) events.push(event);
    }
    if (unfinished !== "") this.#line.push(unfinished);
    this.#lineChars += unfinished.length;
    if (this.#lineChars + this.#dataChars > this.#charsMax) throw tooLong(this.#charsMax);
    return events;
  }

  #takeLine(line: string): ServerEvent | null {
    if (line === "") return this.#dispatch();
    const colon = line.indexOf(":");
    const name = colon === -1 ? line : line.slice(0, colon);
    const value = colon === -1 ? "" : line.slice(colon + 1).replace(/^ /, "");
    switch (name) {
      case "data":
        this.#data.push(value);
        this.#dataChars += value.length;
        break;
      case "event":
        this.#type = value;
        break;
      case "id":
        if (!value.includes("\0")) this.#lastEventId = value;
        break;
      case "retry":
        if (/^\d{1,9}$/.test(value)) this.#retryMs = Number(value);
        break;
      // A comment has no name; what is not known is left alone, as the standard demands.
    }
    return null;
  }

  #dispatch(): ServerEvent | null {
    const event = { type: this.#type || "message", data: this.#data.join("\n"), id: this.#lastEventId };
    const hasData = this.#data.length > 0;
    this.#type = "";
    this.#data = [];
    this.#dataChars = 0;
    return hasData ? event : null;
  }
}

function tooLong(charsMax: number): EverstepError {
  return new EverstepError(
    "ANSWER_NOT_UNDERSTOOD",
    `The server sent one event of more than ${charsMax} characters. Is this the API of Everstep?`,
  );
}
