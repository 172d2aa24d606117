import { expect, test } from "vitest";
import { onEachData } from "./each-data.ts";
import { at, boundary, claimRequest, commit, create, leaseMs, suspendUntil, workflow } from "./given.ts";

const runs = 100;

onEachData("renewals and suspends", {}, (take) => {
  test("R-014 whichever comes first, a run that was given back carries no lease that keeps others out", async () => {
    const { open, isRemote } = take();
    const [holder, renewer, other] = [open(), open(), open()];
    await holder.migrate();
    const ids = Array.from({ length: runs }, (_, n) => `i${n}`);
    await holder.write(
      ids.map((id) => create(id)),
      at(0),
    );
    for (let round = 0; round < (isRemote ? 10 : 100); round++) {
      const now = at(round * 1000);
      const claims = await holder.claim(claimRequest({ now, limit: runs }));
      expect(claims).toHaveLength(runs);
      const commits = claims.map(({ lease }) =>
        commit(lease, boundary(1, { next: suspendUntil(at((round + 1) * 1000)) })),
      );
      const renewals = claims.map(({ lease }) => ({ lease, begun: [] })).reverse();
      const renewing = () => renewer.renew(renewals, now + 2 * leaseMs, now);
      const suspending = () => holder.write(commits, now);
      const order = round % 2 === 0 ? [renewing, suspending] : [suspending, renewing];
      await Promise.all(order.map((act) => act()));
      expect(await other.nextDueAt([workflow])).toBe(at((round + 1) * 1000));
      expect(await other.claim(claimRequest({ owner: "early", now: now + 999 }))).toEqual([]);
    }
    const { items } = await other.listInstances({ limit: runs });
    expect(new Set(items.map(({ executing, status }) => `${executing} ${status}`))).toEqual(
      new Set(["false waiting"]),
    );
  });
});
