/** The place of a syntax error in plain JavaScript, which Node tells only when it is asked to check the file. */
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import * as nodeModule from "node:module";
import type { Place } from "./load-problem.ts";

export async function placeOfSyntaxError(error: unknown, file: string): Promise<Place | null> {
  if (!(error instanceof SyntaxError)) return null;
  try {
    const source = readFileSync(file, "utf8");
    const script = /\.[mc]?ts$/.test(file) ? withoutTypes(source) : source;
    return placeIn(await checked(script), file);
  } catch {
    // It is only a better place that is asked for.
    return null;
  }
}

/** Lines stay where they are. Node announces the function as experimental, which is nothing to the user. */
function withoutTypes(source: string): string {
  const { emitWarning } = process;
  process.emitWarning = () => {};
  try {
    return nodeModule.stripTypeScriptTypes(source);
  } finally {
    process.emitWarning = emitWarning;
  }
}

function checked(script: string): Promise<string> {
  return new Promise((resolve) => {
    const check = execFile(
      process.execPath,
      ["--check", "--input-type=module", "-"],
      { env: { ...process.env, NODE_OPTIONS: "" } },
      (_error, _stdout, stderr) => resolve(stderr),
    );
    check.stdin?.end(script);
  });
}

function placeIn(complaint: string, file: string): Place | null {
  const [head = "", ...rest] = complaint.split("\n");
  const line = /:(\d+)$/.exec(head)?.[1];
  if (line === undefined) return null;
  return { file, line: Number(line), frame: rest.slice(0, 2).filter((text) => text.trim() !== "") };
}
