/** The engine in a process of its own, on a SQLite file: a reload kills it and starts another one on the same file. */
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { driveProgram, type Program, type ProgramRecord, RemoteError } from "./harness.ts";
import type { Answer, ProcessTask, Question } from "./host-process.ts";
import type { Mode } from "./hosting.ts";
import { openJournal } from "./journal.ts";

export async function driveReloadingOnSqlite(
  program: Program,
  mode: Mode,
  folder: string,
): Promise<ProgramRecord> {
  const journal = join(folder, `${program.name}.notes`);
  const task: ProcessTask = {
    program: program.name,
    mode,
    database: join(folder, `${program.name}.db`),
    journal,
  };
  let host = await HostProcess.start(task);
  try {
    const record = await driveProgram(program, {
      perform: (operation) => host.ask(operation),
      observe: async () => openJournal(journal).notes,
      async reload(downMs) {
        await host.kill();
        await new Promise((resolve) => setTimeout(resolve, downMs));
        host = await HostProcess.start(task);
      },
    });
    await host.ask("stop");
    return record;
  } finally {
    await host.kill();
  }
}

class HostProcess {
  readonly #child: ChildProcess;
  readonly #answers = new Map<number, (answer: Answer) => void>();
  #asked = 0;

  private constructor(child: ChildProcess) {
    this.#child = child;
    child.on("message", (answer: Answer) => this.#answers.get(answer.number)?.(answer));
    child.on("exit", () => {
      for (const [number, tell] of this.#answers) tell({ number, error: { message: "The process ended" } });
    });
  }

  static async start(task: ProcessTask): Promise<HostProcess> {
    const child = fork(new URL("./host-process.ts", import.meta.url), [JSON.stringify(task)], {
      execArgv: ["--conditions=everstep-source", "--disable-warning=ExperimentalWarning"],
    });
    const failed = once(child, "exit").then(([code]) => {
      throw new Error(`The process of ${task.program} ended with code ${code} before it was ready`);
    });
    await Promise.race([once(child, "message"), failed]);
    failed.catch(() => {});
    return new HostProcess(child);
  }

  async ask(operation: Question["operation"]): Promise<Record<string, unknown>> {
    const number = ++this.#asked;
    const answered = new Promise<Answer>((resolve) => this.#answers.set(number, resolve));
    this.#child.send({ number, operation } satisfies Question);
    const answer = await answered;
    this.#answers.delete(number);
    if ("error" in answer) throw new RemoteError(answer.error);
    return answer.ok;
  }

  async kill(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const ended = once(this.#child, "exit");
    this.#child.kill("SIGKILL");
    await ended;
  }
}
