import { digestOf } from "../etag.ts";
import type { Call } from "../route.ts";
import type { Streams } from "./streams.ts";

/** The whole of something now, and again whenever it is another. Who has it already gets it only when it changed. */
export async function streamSnapshots(
  { request }: Pick<Call, "request">,
  streams: Streams,
  event: string,
  read: () => Promise<unknown>,
): Promise<Response> {
  const { pathname, search } = new URL(request.url);
  const look = async (): Promise<{ readonly digest: string; readonly data: unknown }> => {
    const data = await read();
    return { data, digest: digestOf(JSON.stringify(data)) };
  };
  // What is not there is answered as such, not with a stream.
  let first: Awaited<ReturnType<typeof look>> | null = await look();
  let known = request.headers.get("last-event-id");
  return streams.open(request, async (sink) => {
    const { digest, data } = first ?? (await streams.shared(`${event} ${pathname}${search}`, look));
    first = null;
    if (digest !== known) sink.send({ event, id: digest, data });
    known = digest;
    return "more";
  });
}
