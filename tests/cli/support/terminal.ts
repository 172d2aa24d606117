/** Runs the real bin in a pseudo-terminal, and gives what a person would see, codes included. */
import { spawn } from "node:child_process";
import { binArguments, emptyFolder, plainEnv } from "./everstep.ts";

export interface TerminalOptions {
  readonly columns?: number;
  readonly env?: Readonly<Record<string, string>>;
  /** Typed when there is a question on the screen. */
  readonly answer?: string;
}

export interface Seen {
  readonly code: number | null;
  readonly screen: string;
}

export async function inTerminal(words: readonly string[], options: TerminalOptions = {}): Promise<Seen> {
  const { columns = 100, env, answer } = options;
  const command = [process.execPath, ...binArguments, ...words].map(quoted).join(" ");
  // The width is that of the terminal that `script` opens, so it is set inside.
  const child = spawn("script", ["-qec", `stty cols ${columns} rows 40; ${command}`, "/dev/null"], {
    env: plainEnv({ SHELL: "/bin/sh", ...env }),
    cwd: emptyFolder(),
    stdio: ["pipe", "pipe", "inherit"],
  });
  let screen = "";
  let isAnswered = false;
  child.stdout.on("data", (data) => {
    screen += data;
    if (isAnswered || answer === undefined || !screen.includes("[y/N] ")) return;
    isAnswered = true;
    child.stdin.write(`${answer}\n`);
  });
  const code = await new Promise<number | null>((done) => child.once("close", (status) => done(status)));
  return { code, screen: screen.replaceAll("\r\n", "\n") };
}

/** Colours as words, so that a snapshot can be read: `<red>errored</>`. */
export function legible(screen: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is made legible
  return screen.replace(/\u001b\[(\d+)m/g, (_, code: string) =>
    names[code] === undefined ? "</>" : `<${names[code]}>`,
  );
}

const names: Readonly<Record<string, string>> = {
  "1": "bold",
  "2": "dim",
  "31": "red",
  "32": "green",
  "33": "yellow",
  "34": "blue",
  "35": "magenta",
  "36": "cyan",
};

function quoted(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`;
}
