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
  // With notes of its own: what it leaves for others, who it is among that, is not of this request.
  const facts = { ...context, ...factsFor(name, {}, {}), state: new Map(context.state) };
  // A hook that fails refuses, and is reported when somebody tries.
  const asking = { runtime: context.runtime, onProblem: () => {} };
  return (await ask(name, hook as (context: unknown) => void, facts, asking)) === undefined;
}

/** Whether somebody may see an instance, as far as hooks can tell: they are asked as if it had been asked for. */
export async function maySee(
  instanceId: string,
  authorize: Authorize,
  asked: AuthorizeContext & { readonly workflowName?: string },
): Promise<boolean> {
  const names = [asked.workflowName ?? "", instanceId].map(encodeURIComponent);
  const context: AuthorizeContext = {
    ...asked,
    action: "getInstance",
    method: "GET",
    path: `/workflows/${names[0]}/instances/${names[1]}`,
    instanceId,
    state: new Map(asked.state),
  };
  const asking = { runtime: context.runtime, onProblem: () => {} };
  if (authorize.request && (await ask("request", authorize.request, context, asking))) return false;
  return mayDo("read", authorize, context);
}
