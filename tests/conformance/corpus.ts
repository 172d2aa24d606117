import { readdirSync, readFileSync } from "node:fs";
import type { Expectation, Operation, Program } from "./harness.ts";

const folder = new URL("./programs/", import.meta.url);

export interface Case {
  readonly program: Program;
  readonly expected: Expectation;
}

/** Every program with the outcome recorded for it. */
export async function readCorpus(): Promise<readonly Case[]> {
  const { programs } = JSON.parse(readFileSync(new URL("./expected.json", import.meta.url), "utf8")) as {
    readonly programs: Record<string, Expectation>;
  };
  const files = readdirSync(folder).filter((file) => file.endsWith(".mjs"));
  return Promise.all(
    files.sort().map(async (file) => {
      const program = await readProgram(file.slice(0, -".mjs".length));
      const expected = programs[program.name];
      if (!expected) throw new Error(`expected.json has no outcome for ${program.name}`);
      return { program, expected };
    }),
  );
}

/** What the recorded engine came to may take a busy machine many times as long; what it gave up is given up as soon. */
const patience = 10;
const untilMs = 8000;

export function patient(program: Program, { recorded }: Expectation): Program {
  // Pauses are not recorded.
  const entries = recorded.drive.values();
  const drive = program.drive.map((operation): Operation => {
    if (operation.op === "wait") return operation;
    const entry = entries.next().value;
    if (!operation.op.startsWith("until") || entry === undefined || "gaveUp" in entry) return operation;
    return { ...operation, timeout: (operation.timeout ?? untilMs) * patience };
  });
  return { ...program, drive };
}

export async function readProgram(name: string): Promise<Program> {
  const { default: program } = await import(new URL(`${name}.mjs`, folder).href);
  return program;
}

export function needsReload(program: Program): boolean {
  return program.drive.some(({ op }) => op === "reload");
}
