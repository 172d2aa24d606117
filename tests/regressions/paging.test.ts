import { expect, test } from "vitest";
import { onEachData } from "./each-data.ts";
import { at, change, create, workflow } from "./given.ts";

const batch = 500;

onEachData("paging", {}, (take) => {
  test("R-078 of instances made in one millisecond, pages of seven show each exactly once, whatever comes and changes meanwhile", async () => {
    const data = take();
    const store = data.open();
    await store.migrate();
    const count = data.store === "sqlite" ? 10_000 : 1000;
    const ids = Array.from({ length: count }, (_, n) => `i${n}`);
    for (let from = 0; from < count; from += batch) {
      await store.write(
        ids.slice(from, from + batch).map((id) => create(id)),
        at(0),
      );
    }
    for (const order of ["asc", "desc"] as const) {
      const seen: string[] = [];
      let after: string | undefined;
      for (let page = 0; ; page++) {
        const query = { workflowName: workflow, limit: 7, order, ...(after === undefined ? {} : { after }) };
        const found = await store.listInstances(query);
        seen.push(...found.items.map(({ instanceId }) => instanceId));
        if (found.after === undefined) break;
        after = found.after;
        // Somebody new at every tenth page, and somebody old who changes, in front of the reader or behind.
        if (page % 10 !== 0) continue;
        const somebody = `i${(page * 37) % count}`;
        const restart = change(somebody, { kind: "restart", history: [] });
        await store.write([create(`${order}-${page}`), restart], at(page));
      }
      const old = seen.filter((id) => id.startsWith("i"));
      expect(old).toHaveLength(count);
      expect(new Set(old).size).toBe(count);
    }
  });
});
