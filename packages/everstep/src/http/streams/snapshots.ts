import type { InstanceRef } from "../../model/instance.ts";
import { digestOf } from "../etag.ts";
import type { Call } from "../route.ts";
import type { Streams } from "./streams.ts";

export interface Snapshots {
  /** The name of the event that carries one. */
  readonly event: string;
  /** The instance they are of; none for lists. */
  readonly ref?: InstanceRef;
  readonly read: () => Promise<unknown>;
}

/** The whole of something now, and again whenever it is another. Who has it already gets it only when it changed. */
export async function streamSnapshots(
  { request, host }: Pick<Call, "request" | "host">,
  streams: Streams,
  { event, ref, read }: Snapshots,
): Promise<Response> {
  const { pathname, search } = new URL(request.url);
  const look = async (): Promise<{ readonly digest: string; readonly data: unknown }> => {
    const data = await read();
    return { data, digest: digestOf(JSON.stringify(data)) };
  };
  // What is not there is answered as such, not with a stream.
  let first: Awaited<ReturnType<typeof look>> | null = await look();
  let known = request.headers.get("last-event-id");
  return streams.open(request, {
    ...(ref ? { ref } : {}),
    refusal: host.refusal,
    async fill(sink) {
      const { digest, data } = first ?? (await streams.shared(`${event} ${pathname}${search}`, look));
      first = null;
      if (digest === known) return "same";
      sink.send({ event, id: digest, data });
      known = digest;
      return "news";
    },
  });
}
