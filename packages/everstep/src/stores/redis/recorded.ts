/** The author's writes of a commit: recorded here, run by the script before the engine's own, refused as a whole. */
import { EverstepError } from "../../model/error.ts";
import type { Mutations } from "../../model/mutations.ts";
import type { CommitOutcome } from "../../store/store.ts";
import type { Arguments } from "./arguments.ts";
import { type RecordedCommand, recordCommands } from "./commands.ts";

export type Recorded =
  | { readonly kind: "none" }
  | { readonly kind: "commands"; readonly commands: readonly RecordedCommand[] }
  /** The author's code threw. Whether anybody asks depends on the lease, which only the script knows. */
  | { readonly kind: "thrown"; readonly error: unknown };

export const nothingRecorded: Recorded = { kind: "none" };

export async function recordMutations(
  { serviceCalls, mutate }: Mutations,
  namespace: string,
): Promise<Recorded> {
  const recorder = recordCommands(namespace);
  try {
    for (const mutation of [...serviceCalls, ...mutate]) await mutation(recorder.commands);
  } catch (error) {
    return { kind: "thrown", error };
  } finally {
    recorder.close();
  }
  return { kind: "commands", commands: recorder.recorded };
}

export function addRecorded(args: Arguments, recorded: Recorded): void {
  args.add(recorded.kind);
  if (recorded.kind !== "commands") return;
  args.each(recorded.commands, ({ isInsert, words }) => {
    args.add(isInsert ? "insert" : "command").each(words, (word) => args.add(word));
  });
}

/** A key that had to be new was there already. */
export class KeyTaken extends Error {
  override readonly name = "KeyTaken";
  readonly key: string;

  constructor(key: string) {
    super(`The key "${key}" is already there.`);
    this.key = key;
  }
}

export function refusedMutation(
  recorded: Recorded,
  [reason, ...facts]: readonly string[],
): CommitOutcome & { readonly kind: "mutation-failed" } {
  const kind = "mutation-failed";
  if (recorded.kind === "thrown") return { kind, conflict: false, error: recorded.error };
  if (reason === "taken") {
    const [key = "", ...lost] = facts;
    return { kind, conflict: true, error: lost.length === 0 ? new KeyTaken(key) : keptWrites(key, lost) };
  }
  return { kind, conflict: false, error: refusedCommand(facts) };
}

function refusedCommand([command, answer, ...lost]: readonly string[]): EverstepError {
  const taken = lost.length === 0 ? "Nothing of the mutation was applied." : tooLarge(lost);
  return new EverstepError(
    "MUTATION_INVALID",
    `Redis refused the command ${command} of a mutation: ${answer}. ${taken}`,
    { details: { command, answer } },
  );
}

function keptWrites(key: string, lost: readonly string[]): KeyTaken {
  const error = new KeyTaken(key);
  error.message += ` ${tooLarge(lost)}`;
  return error;
}

function tooLarge(lost: readonly string[]): string {
  const keys = lost.map((key) => `"${key}"`).join(", ");
  return (
    `What commands before it wrote to ${keys} could not be taken back, because a key of that size is not copied first. ` +
    "Put commands that may be refused before those that write large keys."
  );
}
