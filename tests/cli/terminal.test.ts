/** What a person sees at a terminal: colours, the width of the window, and questions. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { legible } from "./support/terminal.ts";
import { openWorld, type World } from "./support/world.ts";

let world: World;
beforeAll(async () => {
  world = await openWorld();
  const { ORDER, JOB } = world.app.workflows;
  await ORDER?.create({ id: "o-1", params: { amount: 5 } });
  await JOB?.create({
    id: "j-1",
    params: { fail: "no money, and this is a long story about where it went" },
  });
  await JOB?.create({ id: "j-2", params: { say: "hello" } });
  await world.runtime.settle();
  await world.runtime.advance("10 seconds");
});
afterAll(() => world.close());

async function screen(line: string, columns = 100): Promise<string> {
  const { code, screen: seen } = await world.see(line, { columns });
  expect(code).toBe(0);
  return legible(seen);
}

test("statuses have colours in a list", async () => {
  expect(await screen("instances list")).toMatchInlineSnapshot(`
    "<dim>workflow</>  <dim>id</>   <dim>status</>    <dim>run</>  <dim>created</>   <dim>updated</>   <dim>note</>
    job       j-2  <green>complete</>    1  10 s ago  10 s ago
    job       j-1  <red>errored</>     1  10 s ago  10 s ago  <red>dead letter: Error: no money, and this is a long …</>
    order     o-1  <yellow>waiting</>     1  10 s ago  now       <dim>cool off wakes in 1 min</>
    "
  `);
});

test("a narrow window cuts the note short, never a name", async () => {
  const seen = await screen("instances list job", 70);
  expect(seen).toMatchInlineSnapshot(`
    "<dim>workflow</>  <dim>id</>   <dim>status</>    <dim>run</>  <dim>created</>   <dim>updated</>   <dim>note</>
    job       j-2  <green>complete</>    1  10 s ago  10 s ago
    job       j-1  <red>errored</>     1  10 s ago  10 s ago  <red>dead letter: Error:…</>
    "
  `);
  const plain = seen.replace(/<\/?\w*>/g, "").split("\n");
  expect(Math.max(...plain.map((line) => line.length))).toBeLessThanOrEqual(70);
});

test("the timeline has colours and fits the window", async () => {
  expect(await screen("instances get order o-1", 80)).toMatchInlineSnapshot(`
    "<bold>order o-1</>  <yellow>waiting</>
      <dim>run    </>  1
      <dim>created</>  10 s ago (2026-01-31 12:00:00 UTC)
      <dim>started</>  10 s ago (2026-01-31 12:00:00 UTC)
      <dim>updated</>  now (2026-01-31 12:00:10 UTC)
      <dim>wakes  </>  in 1 min (2026-01-31 12:01:10 UTC)

    Step "cool off" sleeps for 60 seconds more.
    <yellow>Skip the sleep if it should go on now.</>
    <dim>  everstep instances skip-sleep order o-1</>

    <bold>Steps</>
      <green>✓</> charge    <dim>do                   </>   0 ms  <blue>━</>
      <green>✓</> reserve   <dim>do, attempt 2 of 3   </>   10 s  <blue>━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━</>
      <yellow>○</> cool off  <dim>sleep, wakes in 1 min</>  0 ms…  <blue>                             ┄</>
    "
  `);
});

test("a history and log lines have colours", async () => {
  expect(await screen("instances history order o-1 --include-logs")).toMatchInlineSnapshot(`
    "<bold>order o-1</>  run 1
    <dim>2026-01-31 UTC</>
    <dim>12:00:00.000</>  <cyan>●</> charge<dim> begins</>
    <dim>12:00:00.000</>    <blue>info </><cyan>  charge</><dim>  [workflow]</>  card charged<dim>  {"cents":500}</>
    <dim>12:00:00.000</>  <green>✓</> charge<dim> after 0 ms</>  {"cents":500}
    <dim>12:00:00.000</>  <cyan>●</> reserve<dim> begins</>
    <dim>12:00:00.000</>  <yellow>↻</> reserve attempt 1 failed: Error: the warehouse is asleep
    <dim>12:00:10.000</>  <green>✓</> reserve<dim> after 10 s, attempt 2</>  "shelf 7"
    <dim>12:00:10.000</>  <yellow>○</> cool off<dim> sleeps until 2026-01-31 12:01:10 UTC</>
    "
  `);
  expect(await screen("instances logs job j-2 --log-level warn")).toMatchInlineSnapshot(`
    "<dim>2026-01-31T12:00:00.000Z</>  <yellow>warn </><dim>  [workflow]</>  hello
    "
  `);
});

test("problems are red, and hints are not", async () => {
  const { code, screen: seen } = await world.see("instances gett order o-1");
  expect(code).toBe(64);
  expect(legible(seen)).toMatchInlineSnapshot(`
    "<red>error:</> There is no command "everstep instances gett".
    Did you mean "everstep instances get"?
    "
  `);
});

test.each([
  ["NO_COLOR", { NO_COLOR: "1" }],
  ["a dumb terminal", { TERM: "dumb" }],
])("there are no colours with %s", async (_, env) => {
  const { screen: seen } = await world.see("instances list", { env });
  expect(seen).toContain("waiting");
  expect(seen).not.toContain("\u001b");
});

test("there are no colours in a pipe", async () => {
  const { out } = await world.run("instances list");
  expect(out).not.toContain("\u001b");
});

test("terminate asks first, and anything but yes leaves the instance alone", async () => {
  const no = await world.see("instances terminate order o-1", { answer: "n" });
  expect(no.code).toBe(70);
  expect(no.screen).toContain("Terminate order o-1? It cannot be undone. [y/N]");
  expect(no.screen).toContain("Nothing was done.");
  const empty = await world.see("instances terminate order o-1", { answer: "" });
  expect(empty.code).toBe(70);
  expect(await screen("instances why order o-1")).not.toContain("terminated");
});

test("Ctrl-C at a question stops the command, and nothing was done", async () => {
  const stopped = await world.see("instances terminate order o-1", { answer: "\u0003" });
  expect(stopped.code).toBe(130);
  expect(await screen("instances why order o-1")).not.toContain("terminated");
});

test("terminate does it after a yes, and without asking when told so", async () => {
  const yes = await world.see("instances terminate order o-1", { answer: "y" });
  expect(yes.screen).toContain("Terminated order o-1.");
  await world.app.workflows.ORDER?.create({ id: "o-2" });
  const unasked = await world.see("instances terminate order o-2 --yes");
  expect(unasked).toMatchObject({ code: 0, screen: "Terminated order o-2.\n" });
});
