/** JSON from an option, a file or standard input. */
import { closeSync, openSync, readSync } from "node:fs";
import { resolve } from "node:path";
import type { Input } from "./input.ts";
import { readJson } from "./json.ts";
import { tooLarge, UsageError } from "./problems.ts";

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
  if (file === "-") return readJson("Standard input", await input.read(maxBytes));
  return readJson(file, readText(resolve(cwd, file), file));
}

function readText(path: string, shown: string): string {
  let file: number | null = null;
  try {
    file = openSync(path, "r");
    return readWithin(file, shown);
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw new UsageError(`${shown} cannot be read: ${(error as Error).message.replace(/\.$/, "")}.`);
  } finally {
    if (file !== null) closeSync(file);
  }
}

/** No server takes more, and what is no file (/dev/zero) may have no end. */
const maxBytes = 16 * 1024 * 1024;

function readWithin(file: number, shown: string): string {
  const parts: Buffer[] = [];
  for (let bytes = 0; ; ) {
    const part = Buffer.allocUnsafe(64 * 1024);
    const read = readSync(file, part);
    if (read === 0) return Buffer.concat(parts).toString("utf8");
    bytes += read;
    if (bytes > maxBytes) throw tooLarge(shown, maxBytes);
    parts.push(part.subarray(0, read));
  }
}
