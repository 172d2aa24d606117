import type { WithinOptions } from "../handles/options.ts";
import { EverstepError } from "../model/error.ts";
import { checkNames, type NamesOf } from "../model/known-names.ts";
import type { CreateRequest, OutcomeOf, SendEventRequest } from "../model/request.ts";
import type { AppParts } from "./app-parts.ts";

const withinNames: NamesOf<WithinOptions> = { tx: true };

export function transactionOf(within: WithinOptions): unknown {
  checkNames(within, withinNames, "What stands beside the options");
  return within.tx;
}

/** Writes in a transaction that the caller will commit, or not. */
export async function writeWithin<Request extends CreateRequest | SendEventRequest>(
  tx: unknown,
  requests: readonly Request[],
  { store, runtime, runner }: AppParts,
): Promise<readonly OutcomeOf<Request>[]> {
  const { transactions } = store.capabilities;
  if (!store.writeWithin || !transactions.has) {
    const why = transactions.has ? "" : `: ${transactions.why}`;
    throw new EverstepError(
      "INVALID_ARGUMENT",
      `This store cannot write in a transaction of yours${why}. Leave \`tx\` out.`,
    );
  }
  const outcomes = await store.writeWithin(tx, requests, runtime.now());
  runner.expect();
  return outcomes as readonly OutcomeOf<Request>[];
}
