/** Whether somebody who shows nothing of who they are may do everything. */
import type { Runtime } from "../model/runtime.ts";
import { type Authorize, type AuthorizeContext, ask, type HookName } from "./authorize.ts";
import { mayDo } from "./may-do.ts";

const kinds: readonly HookName[] = ["read", "instanceCreation", "management", "sendEvent"];

/** Asks the hooks as for a request without any header. Nothing is done, and a hook that fails refuses. */
export async function isOpenToAll(authorize: Authorize | undefined, runtime: Runtime): Promise<boolean> {
  if (authorize === undefined) return false;
  if (authorize.isOpen) return true;
  const context: AuthorizeContext = {
    request: new Request("http://localhost/access"),
    action: "access",
    method: "GET",
    path: "/access",
    runtime,
    state: new Map(),
  };
  const asking = { runtime, onProblem: () => {} };
  if (authorize.request && (await ask("request", authorize.request, context, asking))) return false;
  for (const kind of kinds) if (!(await mayDo(kind, authorize, context))) return false;
  return true;
}
