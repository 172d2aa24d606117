/** One program with its engine on a SQLite file, in a process that may be killed. Started by child-process.ts. */
import "../support/keep-compiled.ts";
import { readProgram } from "./corpus.ts";
import { describeError, type ErrorText, type Operation } from "./harness.ts";
import { createHost, type Mode, openSqlite, touchFirst } from "./hosting.ts";
import { openJournal } from "./journal.ts";

export interface ProcessTask {
  readonly program: string;
  readonly mode: Mode;
  readonly database: string;
  readonly journal: string;
}

export interface Question {
  readonly number: number;
  /** `stop` ends the engine in good order and tells of its problems. */
  readonly operation: Operation | "stop";
}

export type Answer =
  | { readonly number: number; readonly ok: Record<string, unknown> }
  | { readonly number: number; readonly error: ErrorText };

async function serve(task: ProcessTask): Promise<void> {
  const program = await readProgram(task.program);
  const notebook = openJournal(task.journal);
  const host = touchFirst(
    createHost({
      mode: task.mode,
      store: openSqlite(task.database),
      programs: [program],
      notebookOf: () => notebook,
    }),
  );
  const carryOut = (operation: Operation | "stop"): Promise<Record<string, unknown>> =>
    operation === "stop" ? host.stop().then(() => ({})) : host.perform(program, operation);
  const tell = (message: Answer | "ready"): void => void process.send?.(message);
  process.on("message", async ({ number, operation }: Question) => {
    try {
      tell({ number, ok: await carryOut(operation) });
    } catch (error) {
      tell({ number, error: describeError(error) });
    }
  });
  process.on("disconnect", () => process.exit());
  tell("ready");
}

await serve(JSON.parse(process.argv[2]!));
