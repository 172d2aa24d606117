import { createGate } from "everstep/testing";
import { expect, test } from "vitest";
import { onEachStore } from "../scenarios/each-store.ts";
import { chapters, workflowsOf } from "./shapes.ts";

onEachStore("a healthy store", (tell) => {
  test("has no violation, whatever shape its instances are in", async () => {
    const props = { gate: createGate(), fixed: false };
    let deaf = true;
    const onEnded = () => {
      if (deaf) throw new Error("nobody listens yet");
    };
    const story = tell(workflowsOf(props), { hooks: { onEnded, onRestarted: onEnded } });
    const seen = new Set<string>();
    for (const [name, act] of chapters(story, props)) {
      await act();
      const report = await story.app.verify({ history: true, overdue: "1 hour" });
      const { violations, warnings, unreadable, moving, complete } = report;
      expect({ name, violations, warnings, unreadable, moving, complete }).toEqual({
        name,
        violations: [],
        warnings: [],
        unreadable: [],
        moving: 0,
        complete: true,
      });
      const counts = await story.app.counts();
      for (const [status, count] of Object.entries(counts)) if (count > 0) seen.add(status);
      deaf = name !== "days passed" && deaf;
    }
    expect([...seen].sort()).toEqual(["active", "complete", "errored", "paused", "terminated", "waiting"]);
  });
});
