import { expect, test } from "vitest";
import type { World } from "../support/world.ts";

const reads = ["", "/history", "/steps/0", "/logs", "/runs", "/why", "/export"];
const writes = [
  ["/pause"],
  ["/resume"],
  ["/terminate"],
  ["/restart"],
  ["/rewind", { step: "charge" }],
  ["/fork"],
  ["/retry-failed-step"],
  ["/skip-sleep"],
  ["/events", { type: "approved" }],
] as const;

/** What every route of one instance answers when there is none, or no run, or no step. */
export function missing(world: () => World): void {
  test.each([
    ["/workflows/order/instances/nobody", "INSTANCE_NOT_FOUND", 404],
    ["/workflows/nobody/instances/x", "WORKFLOW_NOT_FOUND", 404],
    ["/workflows/order/instances/not%20one", "INVALID_INSTANCE_ID", 400],
  ])("166 whatever is asked of %s is answered with %s", async (path, code, status) => {
    for (const read of reads) expect(await world().get(path + read), read).toMatchObject({ status, code });
    for (const [write, body] of writes)
      expect(await world().post(path + write, body), write).toMatchObject({ status, code });
  });

  test("restart-or-create finds no workflow and takes no id that is none", async () => {
    const { post } = { post: (path: string) => world().post(`${path}/restart-or-create`) };
    expect(await post("/workflows/nobody/instances/x")).toMatchObject({ code: "WORKFLOW_NOT_FOUND" });
    expect(await post("/workflows/order/instances/-x")).toMatchObject({ code: "INVALID_INSTANCE_ID" });
  });

  test("166 a run that there is not is not found", async () => {
    const path = await world().made("quick");
    for (const read of ["/history", "/steps/0", "/logs", "/export"])
      expect(await world().get(`${path}${read}?runNumber=2`), read).toMatchObject({
        status: 404,
        code: "RUN_NOT_FOUND",
      });
    expect(await world().get(`${path}/history?runNumber=0`)).toMatchObject({ code: "INVALID_ARGUMENT" });
  });

  test("a step that there is not is not found, and nothing is restarted or forked", async () => {
    const path = await world().made("order");
    const from = { from: { name: "charge", count: 5 } };
    expect(await world().post(`${path}/restart`, { from: "pack" })).toMatchObject({ code: "STEP_NOT_FOUND" });
    expect(await world().post(`${path}/rewind`, { step: "pack" })).toMatchObject({ code: "STEP_NOT_FOUND" });
    expect(await world().post(`${path}/fork`, from)).toMatchObject({ code: "STEP_NOT_FOUND" });
    expect(await world().post(`${path}/rewind`, {})).toMatchObject({ code: "INVALID_ARGUMENT" });
    expect((await world().get(path)).body.meta.runNumber).toBe(1);
    expect(await world().get(`${path}/steps/7`)).toMatchObject({ status: 404, code: "STEP_NOT_FOUND" });
    for (const index of ["-1", "x", "1.5", "%20"])
      expect(await world().get(`${path}/steps/${index}`), index).toMatchObject({ code: "INVALID_ARGUMENT" });
  });
}
