import { afterPart } from "./after-part.ts";
import type { DeleteOutcome, DeleteRequest, StoreOutcome, StoreRequest } from "./store.ts";

/**
 * Writes a batch in its order, each deletion on its own: it concerns every row of an instance, which no other request reads or
 * writes. For stores that decide a batch as a whole.
 */
export async function withDeletesApart(
  requests: readonly StoreRequest[],
  write: (requests: readonly StoreRequest[]) => Promise<readonly StoreOutcome[]>,
  remove: (request: DeleteRequest) => Promise<DeleteOutcome>,
): Promise<readonly StoreOutcome[]> {
  if (!requests.some(isDelete)) return write(requests);
  const outcomes: StoreOutcome[] = [];
  let others: StoreRequest[] = [];
  const writeOthers = async (): Promise<void> => {
    const part = others;
    others = [];
    if (part.length > 0) outcomes.push(...(await write(part)));
  };
  try {
    for (const request of requests) {
      if (!isDelete(request)) {
        others.push(request);
        continue;
      }
      await writeOthers();
      outcomes.push(await remove(request));
    }
    await writeOthers();
    return outcomes;
  } catch (error) {
    throw outcomes.length > 0 ? afterPart(error) : error;
  }
}

function isDelete(request: StoreRequest): request is DeleteRequest {
  return request.kind === "delete";
}
