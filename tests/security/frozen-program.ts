/** A host that froze what every object has before it loaded anything, as hardened hosts do; says what came of it. */
for (const prototype of [Object.prototype, Array.prototype, Function.prototype]) Object.freeze(prototype);

const { createWorkflows, defineWorkflow } = await import("everstep");
const { openPlace } = await import("../regressions/actor.ts");
const { memory } = await import("everstep/testing");

const place = JSON.parse(process.argv[2] ?? "null");
const workflow = defineWorkflow({ name: "w" }, async ({ payload }, step) => {
  const kept = await step.do("keep", async () => payload);
  const flaky = await step.do("flaky", { retries: { limit: 1, delay: 1 } }, async ({ attempt }) => {
    if (attempt === 1) throw Object.defineProperty(new Error("not yet"), "toString", { value: "text" });
    return attempt;
  });
  const { payload: sent } = await step.waitForEvent("note", { type: "note" });
  await step.sleep("nap", 1);
  return { kept, flaky, sent };
});
const value = JSON.parse(
  '{"toString":1,"constructor":{"prototype":2},"__proto__":{"polluted":3},"valueOf":[4]}',
);
const store = place === null ? memory() : openPlace(place);
const app = createWorkflows({ workflows: { W: workflow }, store, onNotice() {}, onProblem() {} });
await app.start();
const instance = await app.workflows.W.create({ id: "i", params: value });
await instance.sendEvent({ type: "note", payload: value });
const { status, output } = await instance.result({ timeout: "60 seconds" });
await instance.history();
await app.workflows.W.list();
await app.stop();
const expected = JSON.stringify({ kept: value, flaky: 2, sent: value });
console.log(JSON.stringify(output) === expected ? status : `${status} ${JSON.stringify(output)}`);
