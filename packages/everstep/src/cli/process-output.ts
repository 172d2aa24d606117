/** Standard output and standard error, as outputs. */
import type { WriteStream } from "node:tty";
import { createOutput, type Output } from "./output/output.ts";

type Env = Readonly<Record<string, string | undefined>>;
type Stream = NodeJS.WriteStream | WriteStream;

export function outputTo(stream: Stream, env: Env): Output {
  const isTerminal = stream.isTTY === true;
  return createOutput({
    isTerminal,
    columns: isTerminal ? stream.columns || columnsOfOld : Number.POSITIVE_INFINITY,
    colour: isTerminal && !env.NO_COLOR && env.TERM !== "dumb",
    write: (text) => void stream.write(text),
  });
}

/** Of a terminal that does not tell. */
const columnsOfOld = 80;

/** Resolves when everything written so far has left the process. */
export function flush(stream: Stream): Promise<void> {
  return new Promise((resolve) => stream.write("", () => resolve()));
}
