/** When "this id exists already" means that an earlier try of the same call has created it. */
import { EverstepError } from "../model/error.ts";

/**
 * An id that the client made for this call exists only if this call created it. With an id of the caller's own nobody can
 * tell, once a try got no answer: two who use one id to find out who came first must not both be told that they did. So
 * the caller hears that it exists and that it may be its own; `ifExists: "return"` is for those to whom it is all the same.
 */
export async function creating<Result>(
  isGenerated: boolean,
  create: (onUncertain: () => void) => Promise<Result>,
): Promise<Result | "own"> {
  let isUncertain = false;
  try {
    return await create(() => {
      isUncertain = true;
    });
  } catch (problem) {
    if (!(problem instanceof EverstepError) || problem.code !== "INSTANCE_ID_ALREADY_EXISTS") throw problem;
    if (isGenerated) return "own";
    throw isUncertain ? perhapsOwn(problem) : problem;
  }
}

function perhapsOwn(problem: EverstepError): EverstepError {
  return new EverstepError(
    "INSTANCE_ID_ALREADY_EXISTS",
    `${problem.message} It may be the one that this call created: an earlier try got no answer. Look at it, or create ` +
      'with ifExists: "return" if it does not matter who did.',
    { cause: problem, details: { ...problem.details, perhapsOwn: true } },
  );
}
