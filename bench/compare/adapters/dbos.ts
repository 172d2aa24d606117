/** DBOS Transact on PostgreSQL. Workflows run in this process and are started directly, without a queue. */
import { type Alternative, type Open, stepCount } from "../alternative.ts";

export const alternative: Alternative = {
  name: "dbos",
  title: "DBOS",
  stores: ["postgres"],
  packages: { "@dbos-inc/dbos-sdk": "5.3.0" },
  notes: ["Every step is a transaction on the same server, with the same durability."],
};

interface Handle {
  getResult(): Promise<unknown>;
}

type Workflow = (id: string, ms: number) => Promise<unknown>;

/** The little of the library that is used here. */
interface Dbos {
  setConfig(config: object): void;
  launch(): Promise<void>;
  shutdown(): Promise<void>;
  registerWorkflow(workflow: Workflow, options: { name: string }): Workflow;
  startWorkflow(
    workflow: Workflow,
    options: { workflowID: string },
  ): (...args: Parameters<Workflow>) => Promise<Handle>;
  runStep(step: () => Promise<unknown>, options: { name: string }): Promise<unknown>;
  recv(topic: string, timeoutSeconds: number): Promise<unknown>;
  send(workflowId: string, message: unknown, topic: string): Promise<void>;
  sleep(ms: number): Promise<void>;
}

const poolSize = 20;

export const open: Open = async ({ room, load, observer }) => {
  const { DBOS } = await load<{ DBOS: Dbos }>("@dbos-inc/dbos-sdk");
  const step = (n: number): Promise<unknown> =>
    DBOS.runStep(async () => ({ n, ok: true }), { name: `step ${n}` });
  const five: Workflow = async (id) => {
    for (let n = 0; n < stepCount; n++) await step(n);
    observer.ended(id);
  };
  const waiter: Workflow = async (id) => {
    observer.waits(id);
    await DBOS.recv("go", 600);
    await step(0);
    observer.ended(id);
  };
  const sleeper: Workflow = async (id, ms) => {
    observer.asleep(id);
    await DBOS.sleep(ms);
    observer.awake(id);
    await step(0);
    observer.ended(id);
  };
  const known = new Map(
    Object.entries({ five, waiter, sleeper }).map(([name, workflow]) => [
      workflow,
      DBOS.registerWorkflow(workflow, { name }),
    ]),
  );
  DBOS.setConfig({
    name: "bench",
    systemDatabaseUrl: room.url,
    systemDatabasePoolSize: poolSize,
    logLevel: "error",
    runAdminServer: false,
  });
  await DBOS.launch();
  const handles = new Map<string, Handle>();
  const start = async (workflow: Workflow, id: string, ms = 0): Promise<void> => {
    const registered = known.get(workflow) ?? workflow;
    handles.set(id, await DBOS.startWorkflow(registered, { workflowID: id })(id, ms));
  };
  return {
    settings: `started directly in the process, a pool of ${poolSize} connections, otherwise its defaults`,
    startsAtOnce: 64,
    startFive: (id) => start(five, id),
    result: async (id) => handles.get(id)?.getResult(),
    events: { start: (id) => start(waiter, id), settleMs: 1000, send: (id) => DBOS.send(id, 1, "go") },
    sleeps: { start: (id, ms) => start(sleeper, id, ms) },
    close: () => DBOS.shutdown(),
  };
};
