import { StoreError } from "../../model/error.ts";
import type { CommitRequest, StoreOutcome, StoreRequest } from "../../store/store.ts";
import { Arguments } from "./arguments.ts";
import { nothingRecorded, recordMutations } from "./recorded.ts";
import { list, type Reply } from "./reply.ts";
import { writeScript } from "./scripts/index.ts";
import type { Session } from "./session.ts";
import { readOutcome } from "./write-outcomes.ts";
import { addRequest } from "./write-requests.ts";

export async function write(
  session: Session,
  requests: readonly StoreRequest[],
  now: number,
): Promise<readonly StoreOutcome[]> {
  const mutations = mutationsOf(requests);
  const recorded =
    mutations === null ? nothingRecorded : await recordMutations(mutations, session.settings.namespace);
  const args = new Arguments().add(now, requests.filter(({ kind }) => kind === "create").length);
  args.flag(session.settings.waitReplicas !== null);
  args.each(requests, (request) => addRequest(args, request, recorded));
  const replies = list(await session.write(writeScript, args.list));
  return requests.map((request, n) => readOutcome(request, replies[n] as Reply, recorded, now));
}

/** An author's writes share their transaction with one boundary and nothing else, here as in every store. */
function mutationsOf(requests: readonly StoreRequest[]): CommitRequest["mutations"] {
  const mutations = requests.map((request) => (request.kind === "commit" ? request.mutations : null));
  const found = mutations.find((each) => each !== null) ?? null;
  if (found !== null && requests.length > 1) {
    throw new StoreError(
      "invalid",
      "MUTATION_INVALID",
      "A commit with mutations must be the only request of its write.",
    );
  }
  return found;
}
