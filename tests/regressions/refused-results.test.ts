/** What a store will never take fails the step that wanted it recorded; the body, which has run, is not run again. */
import { createWorkflows, defineWorkflow } from "everstep";
import { type StoreCall, storeFailure } from "everstep/testing";
import { describe, expect, test } from "vitest";
import { onEachStore } from "../scenarios/each-store.ts";
import { quiet } from "./quiet.ts";
import { onEachServer } from "./servers.ts";

onEachStore("refused results", (tell) => {
  const carries = (text: string) => (call: StoreCall) =>
    call.requests.some((request) => JSON.stringify(request).includes(text));

  test.each(["too-large", "invalid", "fatal"] as const)(
    "(INV-49) a commit refused for good as %s ends its step with that code after one run of the body, no CRASH_LOOP",
    async (failure) => {
      const ran: string[] = [];
      const workflow = defineWorkflow({ name: "w" }, async (_event, step) => {
        const charged = await step
          .do("charge", { retries: false }, async () => {
            ran.push("charge");
            return "too much";
          })
          .catch((error) => error.code);
        return step.do("report", async () => {
          ran.push("report");
          return charged;
        });
      });
      const story = tell({ W: workflow }, { onProblem: () => {} });
      story.runner().faults.fail("commit", failure, { times: 100, where: carries("too much") });
      await story.workflows.W.create({ id: "i" });
      await story.runUntilIdle();
      const { code } = storeFailure(failure);
      expect(await story.status("i")).toMatchObject({ status: "complete", output: code });
      expect(await story.steps("i")).toEqual(["charge errored", "report completed"]);
      expect(ran).toEqual(["charge", "report"]);
    },
  );
});

onEachServer("results larger than the server takes", (take, name) => {
  describe.skipIf(name !== "mysql")("a packet", () => {
    test("a result beyond max_allowed_packet fails its step at once", async () => {
      const server = take();
      let runs = 0;
      const workflow = defineWorkflow(
        { name: "w", limits: { maxResultBytes: 2 ** 26 } },
        async (_event, step) => {
          await step.do("small", async () => "fine");
          await step.do("large", { retries: false }, async () => {
            runs += 1;
            return "x".repeat(17 * 2 ** 20);
          });
        },
      );
      const app = createWorkflows({ workflows: { W: workflow }, store: server.open(null), ...quiet([]) });
      await app.start();
      const instance = await app.workflows.W.create({ id: "i" });
      const ended = await instance.result();
      expect(ended).toMatchObject({ status: "errored", error: { code: "PAYLOAD_TOO_LARGE" } });
      expect(runs).toBe(1);
      const { steps } = await instance.history();
      expect(steps.map(({ name, status }) => `${name} ${status}`)).toEqual([
        "small completed",
        "large errored",
      ]);
      await app.stop();
    });
  });
});
