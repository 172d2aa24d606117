import type { InstanceRef } from "../../model/instance.ts";
import { digestOf } from "../etag.ts";
import type { Call } from "../route.ts";
import { encodedEvent } from "./sink.ts";
import type { Streams } from "./streams.ts";

export interface Snapshots {
  /** The name of the event that carries one. */
  readonly event: string;
  /** The instance they are of; none for lists. */
  readonly ref?: InstanceRef;
  /** Throws if there is nothing to stream. Costs little: it comes before all limits. */
  readonly check: () => Promise<unknown>;
  readonly read: () => Promise<unknown>;
}

/** The whole of something now, and again whenever it is another. Who has it already gets it only when it changed. */
export async function streamSnapshots(
  call: Pick<Call, "request" | "host" | "client">,
  streams: Streams,
  { event, ref, check, read }: Snapshots,
): Promise<Response> {
  const { request, host, client } = call;
  const { pathname, search } = new URL(request.url);
  // One text for all who are sent it.
  const look = async (): Promise<{ readonly digest: string; readonly sent: Uint8Array }> => {
    const text = JSON.stringify(await read());
    const digest = digestOf(text);
    return { digest, sent: encodedEvent({ event, id: digest, text }) };
  };
  // What is not there is answered as such, not with a stream.
  await check();
  const since = streams.moment();
  let known = request.headers.get("last-event-id");
  return streams.open(request, {
    client,
    ...(ref ? { ref } : {}),
    refusal: host.refusal,
    async fill(sink) {
      const { digest, sent } = await streams.shared(`${event} ${pathname}${search}`, since, look);
      if (digest === known) return "same";
      sink.writeBytes(sent);
      known = digest;
      return "news";
    },
  });
}
