/** What authors' mutations write through: it only records; the commands run on the server with the step, or not at all. */
import { EverstepError } from "../../../model/error.ts";
import type { Mutations } from "../../../model/mutations.ts";
import type { CommitOutcome } from "../../../store/store.ts";
import type { Arguments } from "../server/script-values.ts";

/** A recorded command: its name and arguments. */
export interface RecordedCommand {
  /** The key must not be there yet. */
  readonly isInsert: boolean;
  readonly words: readonly string[];
}

export type CommandArgument = string | number | bigint;

/**
 * Records Redis commands for the step's own atomic write. Every command is a method in lower case, as in ioredis
 * (`commands.hset("order:1", "state", "paid").incr("orders")`); `call` takes any other by name. Nothing can be read:
 * the commands run together, after the function returned.
 */
export interface RedisCommands {
  /** Any command: `commands.call("JSON.SET", "order:1", "$", "{}")`. */
  call(command: string, ...args: readonly (CommandArgument | readonly CommandArgument[])[]): RedisCommands;
  /** SET for a key that must not be there yet. If it is, the whole mutation is refused as a conflict. */
  insert(key: string, value: CommandArgument): RedisCommands;
  /** A key that lies on the same shard of a cluster as this store's data: `{everstep}/name`. */
  key(name: string): string;
  // biome-ignore lint/suspicious/noExplicitAny: every Redis command is a method, with arguments of its own
  readonly [command: string]: any;
}

export interface CommandRecorder {
  readonly commands: RedisCommands;
  readonly recorded: readonly RecordedCommand[];
  /** From now on nothing more can be recorded. */
  close(): void;
}

export function recordCommands(namespace: string): CommandRecorder {
  const recorded: RecordedCommand[] = [];
  let isOpen = true;
  const record = (isInsert: boolean, given: readonly unknown[]): RedisCommands => {
    if (!isOpen) throw tooLate();
    recorded.push({ isInsert, words: wordsOf(given) });
    return commands;
  };
  const own: Record<string, unknown> = {
    call: (...words: unknown[]) => record(false, words),
    insert: (key: string, value: CommandArgument) => record(true, ["SET", key, value, "NX"]),
    key: (name: string) => `{${namespace}}/${name}`,
  };
  const commands = new Proxy(own, {
    get(target, name) {
      // A handle that is returned or awaited is not a promise.
      if (typeof name !== "string" || name === "then" || name in Object.prototype) return undefined;
      return Object.hasOwn(target, name)
        ? target[name]
        : (...args: unknown[]) => record(false, [name, ...args]);
    },
  }) as unknown as RedisCommands;
  return {
    commands,
    recorded,
    close: () => {
      isOpen = false;
    },
  };
}

// A script hands a command's arguments over on its stack.
const wordsMax = 7000;

function wordsOf(given: readonly unknown[]): readonly string[] {
  const words = given.flat(2).map((word) => {
    if (typeof word === "string") return word;
    if (typeof word === "number" || typeof word === "bigint") return String(word);
    throw new EverstepError(
      "MUTATION_INVALID",
      `A Redis command takes texts and numbers, not ${word === null ? "null" : typeof word}; turn the value into a text first.`,
    );
  });
  if (words.length > wordsMax) {
    throw new EverstepError(
      "MUTATION_INVALID",
      `A Redis command of a mutation may have ${wordsMax} arguments, not ${words.length}; split it into several.`,
    );
  }
  return words;
}

function tooLate(): EverstepError {
  return new EverstepError(
    "MUTATION_INVALID",
    "A mutation recorded a command after it had ended. Await everything before the function returns.",
  );
}

/** The author's writes of a commit: recorded here, run by the script before the engine's own, refused as a whole. */

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
