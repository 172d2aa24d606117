import { type Authorize, type AuthorizeContext, ask, type HookName } from "./authorize.ts";
import { factsFor } from "./request-facts.ts";

/** Whether somebody whom the request hook has let in might do what another hook decides. Only a question: nothing is done. */
export async function mayDo(
  name: HookName,
  authorize: Authorize,
  context: AuthorizeContext,
): Promise<boolean> {
  const hook = authorize[name];
  // As for every route: without any hook that covers it, it is closed.
  if (!hook) return authorize.request !== undefined;
  const facts = { ...context, ...factsFor(name, {}, {}) };
  // A hook that fails refuses, and is reported when somebody tries.
  const asking = { runtime: context.runtime, onProblem: () => {} };
  return (await ask(name, hook as (context: unknown) => void, facts, asking)) === undefined;
}
