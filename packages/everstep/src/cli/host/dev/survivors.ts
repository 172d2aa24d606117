/** What a process that died was at, as its successor finds it in the store. */
import type { App } from "../../../index.ts";
import { counted } from "../counted.ts";

const shownMax = 5;
const lookedAtMax = 100;

/** One line per instance; none where nothing was under way. To be asked before the runner starts. */
export async function survivorLines(app: App): Promise<readonly string[]> {
  await app.migrate();
  const { items } = await app.store.listInstances({
    statuses: ["active"],
    limit: lookedAtMax,
    order: "asc",
    brief: true,
  });
  const underWay = items.filter(({ executing }) => executing);
  if (underWay.length === 0) return ["Nothing was under way."];
  const when = app.store.ownership ? "" : " once the lease of the process that died has run out";
  const lines = underWay.slice(0, shownMax).map(({ workflowName, instanceId, begun }) => {
    const steps = begun.map(({ key }) => `"${key}"`).join(", ");
    const cutOff = steps === "" ? "" : `; ${steps} was cut off and runs again`;
    return `${workflowName} ${instanceId} goes on${when}${cutOff}.`;
  });
  const others = underWay.length - lines.length;
  return others === 0 ? lines : [...lines, `So do ${counted(others, "other")}.`];
}
