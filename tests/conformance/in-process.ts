/** The engine in this process. */
import type { RunnerSettings } from "everstep";
import { createMemoryDatabase, memory } from "everstep/memory";
import type { Store } from "everstep/store";
import { driveProgram, Notebook, type Program, type ProgramRecord } from "./harness.ts";
import { createHost, type Mode, touchFirst } from "./hosting.ts";

export interface CorpusHost {
  drive(program: Program): Promise<ProgramRecord>;
  stop(): Promise<void>;
}

/** All programs in one app, for those that never reload. */
export async function hostTogether(
  programs: readonly Program[],
  mode: Mode,
  store: Store,
): Promise<CorpusHost> {
  const notebooks = new Map(programs.map((program) => [program, new Notebook()]));
  const notebookOf = (program: Program): Notebook => notebooks.get(program)!;
  const host = createHost({ mode, store, programs, notebookOf });
  await host.start();
  return {
    drive: (program) =>
      driveProgram(program, {
        perform: (operation) => host.perform(program, operation),
        observe: async () => notebookOf(program).notes,
        reload: () => Promise.reject(new Error(`${program.name} needs a host that can reload`)),
      }),
    stop: () => host.stop(),
  };
}

/** Nobody can prove that an app in this process is dead, so its work goes on when its leases have run out. */
const shortLease: RunnerSettings = { lease: "1 second" };

/** Memory outlives no process, so a reload cuts the old app off from its data and starts another one on it. */
export function driveReloadingInMemory(program: Program, mode: Mode): Promise<ProgramRecord> {
  const database = createMemoryDatabase();
  return driveReloadingInProcess(program, mode, () => memory({ database }));
}

/** `openStore` gives another handle on the same data each time. */
export async function driveReloadingInProcess(
  program: Program,
  mode: Mode,
  openStore: () => Store,
): Promise<ProgramRecord> {
  const notebook = new Notebook();
  const opened: Store[] = [];
  const open = () => {
    const whole = openStore();
    opened.push(whole);
    const { store, cut } = cuttable(whole);
    const programs = [program];
    const host = createHost({ mode, store, programs, notebookOf: () => notebook, runner: shortLease });
    return { host: touchFirst(host), cut };
  };
  let current = open();
  const record = await driveProgram(program, {
    perform: (operation) => current.host.perform(program, operation),
    observe: async () => notebook.notes,
    async reload(downMs) {
      current.cut();
      await new Promise((resolve) => setTimeout(resolve, downMs));
      current = open();
    },
  });
  await current.host.stop();
  for (const store of opened) await store.close();
  return record;
}

/** From the cut on nothing reaches the data and no call returns, as for a process that was killed. */
function cuttable(store: Store): { readonly store: Store; readonly cut: () => void } {
  let isCut = false;
  const connection = new Proxy(store, {
    get(target, key) {
      const member: unknown = Reflect.get(target, key, target);
      if (typeof member !== "function") return member;
      return (...given: unknown[]) => (isCut ? new Promise(() => {}) : member.apply(target, given));
    },
  });
  return {
    store: connection,
    cut() {
      isCut = true;
    },
  };
}
