/** One verb for many instances: a line for each as it is done, the rest although one is refused, and a sum. */
import type { Client } from "../../fetch-client/index.ts";
import type { ExitCode } from "../command.ts";
import { nameOf } from "../instance-of.ts";
import { jsonLine } from "../output/json-document.ts";
import type { Output } from "../output/output.ts";
import { painted } from "../output/paint.ts";
import type { Chosen } from "./chosen.ts";
import type { Verb } from "./verb.ts";

interface Manner {
  readonly out: Output;
  readonly err: Output;
  readonly isDry: boolean;
  readonly isJson: boolean;
}

/** At the same time. */
const atOnce = 8;

export async function doToAll(
  client: Client,
  chosen: readonly Chosen[],
  verb: Verb,
  manner: Manner,
): Promise<ExitCode> {
  const telling = new Telling(chosen.length, verb, manner);
  if (manner.isDry) {
    for (const each of chosen) telling.would(each);
    telling.sum();
    return 0;
  }
  const left = [...chosen].reverse();
  let failure: { readonly error: unknown } | undefined;
  const work = async (): Promise<void> => {
    for (let each = left.pop(); each !== undefined && !failure; each = left.pop()) {
      try {
        await verb.act(client.workflow(each.workflowName).get(each.id), each);
        telling.done(each);
      } catch (error) {
        if (isAboutOne(error)) telling.refused(each, error);
        else failure ??= { error };
      }
    }
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  telling.sum();
  if (failure) throw failure.error;
  return telling.refusals === 0 ? 0 : 70;
}

class Telling {
  refusals = 0;
  #done = 0;
  readonly #total: number;
  readonly #verb: Verb;
  readonly #manner: Manner;

  constructor(total: number, verb: Verb, manner: Manner) {
    this.#total = total;
    this.#verb = verb;
    this.#manner = manner;
  }

  would(each: Chosen): void {
    const { out, isJson } = this.#manner;
    if (isJson) out.raw(jsonLine({ ...namesOf(each), dryRun: true }));
    else out.line(`would ${this.#verb.infinitive} ${nameOf(each)}`);
  }

  done(each: Chosen): void {
    this.#done++;
    const { out, isJson } = this.#manner;
    if (isJson) out.raw(jsonLine({ ...namesOf(each), ok: true }));
    else out.line(`${this.#place()} ${this.#verb.participle} ${nameOf(each)}`);
  }

  refused(each: Chosen, { code, message }: Refusal): void {
    this.refusals++;
    const { out, isJson } = this.#manner;
    if (isJson) return out.raw(jsonLine({ ...namesOf(each), ok: false, error: { code, message } }));
    const text = `${this.#place()} could not ${this.#verb.infinitive} ${nameOf(each)}: ${message}`;
    out.line(painted("red", text));
  }

  sum(): void {
    const { out, err, isJson, isDry } = this.#manner;
    const { infinitive, participle } = this.#verb;
    const many = this.#total === 1 ? "1 instance" : `${this.#total} instances`;
    const to = isJson ? err : out;
    if (this.#total === 0) to.line("There are no such instances.");
    else if (isDry) to.line(`Would ${infinitive} ${many}; nothing was done.`);
    else to.line(`${participle.charAt(0).toUpperCase()}${participle.slice(1)} ${this.#done} of ${many}.`);
  }

  /** "3/17": how far it is. */
  #place(): string {
    return `${this.#done + this.refusals}/${this.#total}`;
  }
}

function namesOf({ workflowName, id }: Chosen): Pick<Chosen, "workflowName" | "id"> {
  return { workflowName, id };
}

interface Refusal {
  readonly code: string;
  readonly message: string;
}

/** It cannot be done to this one, which says nothing about the next. */
function isAboutOne(error: unknown): error is Refusal {
  const { code } = Object(error) as { readonly code?: unknown };
  return typeof code === "string" && !aboutAll.has(code) && !code.startsWith("INVALID_");
}

const aboutAll: ReadonlySet<string> = new Set([
  "CONNECTION_FAILED",
  "UNAUTHORIZED",
  "AUTHORIZATION_NOT_CONFIGURED",
  "HOST_NOT_ALLOWED",
  "ROUTE_NOT_FOUND",
  "ANSWER_NOT_UNDERSTOOD",
  "APP_STOPPED",
  "STORE_UNAVAILABLE",
]);
