/** Connections break in every way; processes, and what they were doing, survive it. */
import { createWorkflows, defineWorkflow } from "everstep";
import { expect, test } from "vitest";
import { quiet } from "./quiet.ts";
import { onEachServer, type Server } from "./servers.ts";

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

const work = defineWorkflow({ name: "w" }, async ({ payload }, step) => {
  for (let n = 0; n < 5; n++) {
    await step.do(`step ${n}`, async () => {
      if (payload?.slow) await pause(60);
      return n;
    });
  }
  return "done";
});

onEachServer("broken connections", (take) => {
  /** A started app behind a proxy. */
  const begin = async (server: Server) => {
    const proxy = await server.proxy();
    const app = createWorkflows({ workflows: { W: work }, store: server.open(proxy), ...quiet() });
    await app.start();
    return { app, proxy };
  };
  type Begun = Awaited<ReturnType<typeof begin>>;

  const breaks: Record<string, (server: Server, begun: Begun) => Promise<void>> = {
    "the server ends them": (server, { proxy }) => server.kill(proxy.connections.map(({ port }) => port)),
    "the network cuts them": async (_server, { proxy }) => proxy.cut(),
    "the server is away for a while": async (_server, { proxy }) => {
      await proxy.goDown();
      await pause(100);
      await proxy.comeUp();
    },
  };

  test.each(Object.keys(breaks))("R-070 %s while the app is idle: the next call succeeds", async (how) => {
    const server = take();
    const begun = await begin(server);
    const { app } = begun;
    await (await app.workflows.W.create({ id: "before" })).result({ timeout: "60 seconds" });
    await breaks[how]?.(server, begun);
    await pause(50);
    const instance = await app.workflows.W.create({ id: "after" });
    expect(await instance.result({ timeout: "60 seconds" })).toMatchObject({ status: "complete" });
    await app.stop();
  });

  test.each(Object.keys(breaks))(
    "R-070 %s while it is busy: everything comes to its end, once",
    async (how) => {
      const server = take();
      const begun = await begin(server);
      const { app } = begun;
      const batch = Array.from({ length: 20 }, (_, n) => ({ id: `i${n}`, params: { slow: true } }));
      const instances = await app.workflows.W.createBatch(batch);
      for (let n = 0; n < 3; n++) {
        await pause(70);
        await breaks[how]?.(server, begun);
      }
      for (const instance of instances) {
        expect(await instance.result({ timeout: "60 seconds" })).toMatchObject({ status: "complete" });
        const { steps } = await instance.history();
        expect(steps.map(({ attempts, starts }) => [attempts, starts])).toEqual(Array(5).fill([1, 1]));
      }
      await app.stop();
    },
  );
});
