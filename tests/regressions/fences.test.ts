import { expect, test } from "vitest";
import { onEachData } from "./each-data.ts";
import {
  at,
  boundary,
  change,
  claimRequest,
  commit,
  complete,
  completed,
  create,
  leaseMs,
  ref,
} from "./given.ts";

onEachData("fences", {}, (take) => {
  test("R-072 every write under an old token or for an old run is told so by every driver, and changes nothing", async () => {
    const { open } = take();
    const [old, current] = [open(), open()];
    await old.migrate();
    await old.write([create("i")], at(0));
    const [first] = await old.claim(claimRequest({ owner: "old", now: at(0) }));
    const [second] = await current.claim(claimRequest({ owner: "current", now: at(leaseMs) }));
    const now = at(leaseMs);
    const before = await current.getInstance(ref("i"));
    const stale = first!.lease;
    expect(second!.lease.token).not.toBe(stale.token);
    const step = completed(0);
    const commits = [
      commit(stale, boundary(1, { steps: [step] })),
      commit({ ...stale, owner: "current" }, boundary(1, { next: complete() })),
      commit({ ...second!.lease, token: second!.lease.token + 1 }, boundary(1, { next: complete() })),
    ];
    expect(await old.write(commits, now)).toEqual(commits.map(() => ({ kind: "superseded" })));
    expect(await old.renew([{ lease: stale, begun: [] }], now + leaseMs, now)).toEqual([{ kind: "lost" }]);
    await old.release([stale], now);
    const wake = { kind: "wake", runId: stale.runId, token: stale.token } as const;
    expect(await old.write([wake], now)).toEqual([{ kind: "ignored" }]);
    const ofOldRun = change("i", { kind: "pause" }, { statuses: ["active"], runNumber: 2 });
    expect(await old.write([ofOldRun], now)).toMatchObject([{ kind: "refused", runNumber: 1 }]);
    expect(await current.getInstance(ref("i"))).toEqual(before);
    expect((await current.listSteps(stale.runId, { limit: 10 })).items).toEqual([]);
    // The same step under the token in force, to show that the refusals were not for another reason.
    const landed = commit(second!.lease, boundary(1, { steps: [step] }));
    expect(await current.write([landed], now)).toMatchObject([{ kind: "committed" }]);
  });
});
