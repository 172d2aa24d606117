import { EverstepError } from "../model/error.ts";
import { nearest } from "../model/nearest.ts";

/** The one that the store knows by this name, whatever its key in the app is. */
export function workflowNamed<Named extends { readonly name: string }>(
  name: string,
  workflows: Readonly<Record<string, Named>>,
): Named {
  const all = Object.values(workflows);
  const found = all.find((each) => each.name === name);
  if (found) return found;
  const near =
    typeof name === "string"
      ? nearest(
          name,
          all.map((each) => each.name),
        )
      : undefined;
  throw new EverstepError(
    "WORKFLOW_NOT_FOUND",
    `There is no workflow ${JSON.stringify(String(name).slice(0, 64))} here. ` +
      (near === undefined
        ? "Check the name, and whether this server has the code of it."
        : `Did you mean "${near}"?`),
  );
}
