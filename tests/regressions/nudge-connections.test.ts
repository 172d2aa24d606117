/** Hints from other processes come over connections that may be dead, or deaf, without anybody having told. */
import { createWorkflows, defineWorkflow } from "everstep";
import { createFakeRuntime } from "everstep/testing";
import { describe, expect, test, vi } from "vitest";
import type { ProxiedConnection, TcpProxy } from "../support/tcp-proxy.ts";
import { quiet } from "./quiet.ts";
import { onEachServer, type Server } from "./servers.ts";

/** Generous: a busy machine is slow, a nudge that was lost never comes. */
const patienceMs = 30_000;
vi.setConfig({ testTimeout: 4 * patienceMs });

const workflow = defineWorkflow({ name: "w" }, async ({ payload }, step) => {
  if (payload?.waits) return (await step.waitForEvent("note", { type: "note" })).payload;
  return step.do("work", async () => "done");
});

/** An app behind the proxy, in a time that the test moves, and one beside it that only creates. */
function twoApps(server: Server, proxy: TcpProxy) {
  const runtime = createFakeRuntime({ now: Date.now() });
  const problems: unknown[] = [];
  const app = createWorkflows({
    workflows: { W: workflow },
    store: server.open(proxy),
    runtime,
    ...quiet(problems),
  });
  const other = createWorkflows({ workflows: { W: workflow }, store: server.open(null), runtime });
  /** Waits in real time, without the app's clock moving. */
  const within = (ms: number, condition: () => unknown): Promise<boolean> =>
    runtime.waitUntil(condition, { timeout: ms }).then(
      () => true,
      () => false,
    );
  const isComplete = async (id: string): Promise<boolean> => {
    const record = await other.store.getInstance({ workflowName: "w", instanceId: id });
    return record?.status === "complete";
  };
  const stop = async (): Promise<void> => {
    await Promise.all([app.stop(), other.stop()]);
  };
  return { app, other, runtime, problems, within, isComplete, stop };
}

const listening = (proxy: TcpProxy): ProxiedConnection | undefined =>
  proxy.connections.find(({ said }) => /LISTEN|subscribe/i.test(said));

/** How much of what was heard is about a namespace: from its name to the next message, of whomever. */
function bytesAbout(namespace: string, heard: string): number {
  const messages = heard.split(/(?=A\0\0[\s\S]{2}[\s\S]{4}everstep\0|\*3\r\n)/);
  return messages.filter((each) => each.includes(namespace)).reduce((sum, { length }) => sum + length, 0);
}

onEachServer("nudge connections", (take, name) => {
  if (name === "mysql") return test.skip("are for servers that can send nudges");

  test("R-027 (LIV-3, LIV-4) a nudge connection that says nothing any more costs a poll, and is replaced before long", async () => {
    const server = take();
    const proxy = await server.proxy();
    const { app, other, runtime, within, isComplete, stop } = twoApps(server, proxy);
    await app.start();
    expect(await within(patienceMs, () => listening(proxy))).toBe(true);
    await other.workflows.W.create({ id: "heard" });
    expect(await within(patienceMs, () => isComplete("heard"))).toBe(true);
    const dead = listening(proxy);
    dead?.silence();
    await other.workflows.W.create({ id: "not-heard" });
    expect(await within(200, () => isComplete("not-heard"))).toBe(false);
    await runtime.advance("30 seconds");
    expect(await within(patienceMs, () => isComplete("not-heard"))).toBe(true);
    await runtime.advance("5 minutes");
    expect(await within(patienceMs, () => [undefined, dead].includes(listening(proxy)) === false)).toBe(true);
    await other.workflows.W.create({ id: "heard-again" });
    expect(await within(patienceMs, () => isComplete("heard-again"))).toBe(true);
    await stop();
  });

  test("R-027 a nudge connection that says nothing any more is asked, and replaced within half a minute", async () => {
    const server = take();
    const proxy = await server.proxy();
    const { app, other, runtime, within, isComplete, stop } = twoApps(server, proxy);
    await app.start();
    expect(await within(patienceMs, () => listening(proxy))).toBe(true);
    // The first may be found by the look at the start, the second only by a nudge: it listens.
    for (const id of ["one", "two"]) {
      await other.workflows.W.create({ id });
      expect(await within(patienceMs, () => isComplete(id))).toBe(true);
    }
    for (const id of ["first", "second"]) {
      const dead = listening(proxy);
      dead?.silence();
      await runtime.advance("15 seconds");
      // The question has no answer; another connection is made a moment later.
      await runtime.advance("1 second");
      const isAnother = (): boolean => ![undefined, dead].includes(listening(proxy));
      expect(await within(patienceMs, isAnother)).toBe(true);
      expect(dead?.isOpen).toBe(false);
      // It may have connected and not listen yet: then it looks as soon as it does.
      await other.workflows.W.create({ id });
      expect(await within(patienceMs, () => isComplete(id))).toBe(true);
    }
    await stop();
  });

  test("R-069 a nudge has the same size, however large the news is", async () => {
    const server = take();
    const proxy = await server.proxy();
    const { app, other, within, isComplete, stop } = twoApps(server, proxy);
    await app.start();
    expect(await within(patienceMs, () => listening(proxy))).toBe(true);
    const heardFor = async (id: string, text: string): Promise<number> => {
      // PostgreSQL has one channel for a database: what tests beside this one tell is heard too, and is not counted.
      let heard = "";
      listening(proxy)?.onHeard((data) => {
        heard += data.toString("latin1");
      });
      const instance = await other.workflows.W.create({ id, params: { waits: true, text } });
      await instance.sendEvent({ type: "note", payload: text });
      expect(await within(patienceMs, () => isComplete(id))).toBe(true);
      expect(heard).not.toContain("xxxxxxxx");
      return bytesAbout(server.namespace, heard);
    };
    const small = await heardFor("small", "x");
    const large = await heardFor("large", "x".repeat(1024 * 1024 - 100));
    expect(small).toBeGreaterThan(0);
    // Whether one nudge or several came is a matter of moments.
    expect(large).toBeLessThan(small + 1000);
    await stop();
  });

  describe.skipIf(name !== "postgres")("behind a pooler that hands out connections per transaction", () => {
    test("R-028 it is found out at the start that nothing is heard, said once, and polling goes on", async () => {
      const server = take();
      const proxy = await server.proxy({
        onRequest(data, reply) {
          const isListen = data.includes("LISTEN ");
          if (isListen) reply(listenAnswer);
          return isListen ? Buffer.alloc(0) : data;
        },
      });
      const { app, other, runtime, problems, within, isComplete, stop } = twoApps(server, proxy);
      await app.start();
      expect(await within(patienceMs, () => problems.length > 0)).toBe(true);
      expect(problems).toMatchObject([{ message: expect.stringMatching(/LISTEN.*pooler.*[Pp]olling/) }]);
      await other.workflows.W.create({ id: "polled" });
      await runtime.advance("30 seconds");
      expect(await within(patienceMs, () => isComplete("polled"))).toBe(true);
      expect(problems).toHaveLength(1);
      await stop();
    });
  });
});

/** CommandComplete and ReadyForQuery: the pooler says yes, and forgets about it. */
const listenAnswer = Buffer.from("C\0\0\0\x0bLISTEN\0Z\0\0\0\x05I", "latin1");
