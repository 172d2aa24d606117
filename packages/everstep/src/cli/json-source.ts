/** JSON from an option, a file or standard input. */
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import type { Input } from "./input.ts";
import { readJson } from "./json.ts";
import { UsageError } from "./problems.ts";

interface Surroundings {
  readonly cwd: string;
  readonly input: Input;
}

/** `name` is that of the option; the one for a file is called `--name-file`. */
export async function readJsonFrom(
  name: string,
  value: unknown,
  file: string | undefined,
  { cwd, input }: Surroundings,
): Promise<unknown> {
  if (file === undefined) return value;
  if (value !== undefined)
    throw new UsageError(`--${name} and --${name}-file are both given; one is enough.`);
  if (file === "-") return readJson("Standard input", await input.read());
  return readJson(file, readText(resolve(cwd, file), file));
}

function readText(path: string, shown: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    throw new UsageError(`${shown} cannot be read: ${(error as Error).message.replace(/\.$/, "")}.`);
  }
}
