/** Code and data of different age meet: they work together, or the code says at once that it cannot. */
import { createWorkflows, defineWorkflow } from "everstep";
import { expect, test } from "vitest";
import { onEachSite, type Tampering } from "./behind-the-store.ts";
import { at, create, ref } from "./given.ts";
import { quiet } from "./quiet.ts";

const workflow = defineWorkflow({ name: "w" }, async () => "done");

/** As the next release would leave it. */
const newer: Tampering = {
  sql: "UPDATE <meta> SET value = 99 WHERE name = 'schema_version'",
  redis: () => ["HSET", ":meta", "version", "99"],
};
const onlyForNewer: Tampering = {
  sql: "UPDATE <meta> SET value = 99 WHERE name = 'oldest_compatible'",
  redis: () => ["HSET", ":meta", "oldest", "99"],
};
/** The table of versions lives on with its namespace. */
const asBefore = (version: number): readonly Tampering[] => [
  {
    sql: `UPDATE <meta> SET value = ${version} WHERE name = 'schema_version'`,
    redis: () => ["HSET", ":meta", "version", String(version)],
  },
  {
    sql: "UPDATE <meta> SET value = 1 WHERE name = 'oldest_compatible'",
    redis: () => ["HSET", ":meta", "oldest", "1"],
  },
];

onEachSite("schema versions", (take) => {
  test("R-089 older code works on a newer schema that allows it, and refuses one that does not, before it touches anything", async () => {
    const site = take();
    const first = createWorkflows({ workflows: { W: workflow }, store: site.open(), ...quiet() });
    const { to: version } = await first.migrate();
    await first.workflows.W.create({ id: "i" });
    await first.stop();
    await site.tamper(newer, 0);
    const allowed = createWorkflows({ workflows: { W: workflow }, store: site.open(), ...quiet() });
    expect(await allowed.migrate()).toEqual({ from: 99, to: 99, statements: [] });
    expect((await allowed.tick()).processed).toBe(1);
    await allowed.stop();
    await site.tamper(onlyForNewer, 0);
    const store = site.open();
    const refused = createWorkflows({ workflows: { W: workflow }, store, ...quiet() });
    const tooNew = { code: "SCHEMA_TOO_NEW", message: expect.stringMatching(/99.*update everstep/is) };
    await expect(refused.start()).rejects.toMatchObject(tooNew);
    await expect(refused.workflows.W.create({ id: "j" })).rejects.toMatchObject(tooNew);
    await store.close();
    for (const tampering of asBefore(version)) await site.tamper(tampering, 0);
    const after = site.open();
    expect((await after.getInstance(ref("i", "w")))?.status).toBe("complete");
    expect(await after.getInstance(ref("j", "w"))).toBeUndefined();
    expect(await after.write([create("k")], at(0))).toMatchObject([{ kind: "created" }]);
    await after.close();
  });
});
