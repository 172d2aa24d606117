/** The workflows of `npm start`. */
import { resolve } from "node:path";
import { expect, test } from "vitest";
import { Project } from "./command-line.ts";

const file = resolve("examples/dev/workflows.ts");

test("the crash demo kills its process in the middle, goes on in the next, and completes no step twice", async () => {
  const project = new Project();
  project.env.EVERSTEP_DEMO_WORK_MS = "1";
  const dev = await project.dev(file);
  const before = dev.hostPid;
  await dev.client.workflow("crash-demo").create({ id: `crash-${before}`, params: { crash: true } });
  await dev.running.says(/kill -9 \d+/);
  await dev.running.says(/The process died \(SIGKILL\)[\s\S]*Running again/);
  const after = dev.hostPid;
  const result = await dev.client.workflow("crash-demo").get(`crash-${before}`).result();
  expect(result.output).toEqual({
    completedTwice: [],
    processes: [String(before), String(after)],
    steps: {
      pick: [`began in ${before}`, `did in ${before}`],
      pack: [`began in ${before}`, `did in ${before}`],
      label: [`began in ${before}`, `began in ${after}`, `did in ${after}`],
      ship: [`began in ${after}`, `did in ${after}`],
      invoice: [`began in ${after}`, `did in ${after}`],
    },
  });

  const order = await dev.client.workflow("order").create({ id: "o-1" });
  await dev.running.says(
    /↻ order o-1 {2}"charge" failed, attempt 1 of 6, again in .*: The bank does not answer\./,
  );
  await order.sendEvent({ type: "approved", payload: { by: "Ann" } });
  await dev.running.says(/… order o-1 {2}"cool off" sleeps for 3 s/);
  await order.skipSleep();
  expect(await order.result()).toMatchObject({ status: "complete", output: { approvedBy: "Ann" } });
});
