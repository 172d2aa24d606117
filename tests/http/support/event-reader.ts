import type { Json } from "./checked-answer.ts";

export interface StreamEvent {
  readonly event: string;
  readonly id?: string;
  readonly data: Json;
}

/** Reads server-sent events one after the other, as the standard says. */
export class EventReader {
  readonly response: Response;
  /** Comment lines and retry times, which are no events. */
  readonly asides: string[] = [];
  readonly #reader: ReadableStreamDefaultReader<string>;
  #text = "";
  #isOver = false;

  constructor(response: Response) {
    this.response = response;
    const decoder = new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>;
    this.#reader = (response.body as ReadableStream<Uint8Array>).pipeThrough(decoder).getReader();
  }

  /** The next event; undefined when the stream has ended. */
  async next(): Promise<StreamEvent | undefined> {
    for (;;) {
      const end = this.#text.indexOf("\n\n");
      if (end >= 0) {
        const block = this.#text.slice(0, end);
        this.#text = this.#text.slice(end + 2);
        const event = this.#read(block);
        if (event) return event;
        continue;
      }
      if (this.#isOver) return undefined;
      const { done, value } = await this.#reader.read();
      if (done) this.#isOver = true;
      else this.#text += value;
    }
  }

  /** Everything up to the event that fits, with it. */
  async until(fits: (event: StreamEvent) => boolean): Promise<StreamEvent[]> {
    const events: StreamEvent[] = [];
    for (;;) {
      const event = await this.next();
      if (!event) throw new Error(`The stream ended after ${JSON.stringify(events.at(-1))}.`);
      events.push(event);
      if (fits(event)) return events;
    }
  }

  async rest(): Promise<StreamEvent[]> {
    const events: StreamEvent[] = [];
    for (let event = await this.next(); event; event = await this.next()) events.push(event);
    return events;
  }

  cancel(): Promise<void> {
    return this.#reader.cancel();
  }

  #read(block: string): StreamEvent | undefined {
    const fields = new Map<string, string>();
    for (const line of block.split("\n")) {
      const colon = line.indexOf(":");
      if (colon === 0 || line.startsWith("retry:")) this.asides.push(line);
      else fields.set(line.slice(0, colon), line.slice(colon + 1).replace(/^ /, ""));
    }
    const [event, id, data] = [fields.get("event"), fields.get("id"), fields.get("data")];
    if (data === undefined) return;
    return { event: event ?? "message", data: JSON.parse(data), ...(id === undefined ? {} : { id }) };
  }
}
