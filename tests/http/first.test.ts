import { allowAll, createWorkflows, defineWorkflow } from "everstep";
import { memory } from "everstep/memory";
import { expect, test } from "vitest";

const order = defineWorkflow({ name: "order" }, async (event, step) => {
  const user = await step.do("load user", async () => ({ id: event.payload.userId }));
  const approval = await step.waitForEvent("approval", { type: "approved", timeout: "1 week" });
  return { user, by: approval.payload.by };
});

function begin() {
  const app = createWorkflows({ workflows: { ORDER: order }, store: memory(), authorize: allowAll() });
  const ask = async (method: string, path: string, body?: unknown) => {
    const init =
      body === undefined
        ? {}
        : { body: JSON.stringify(body), headers: { "content-type": "application/json" } };
    const response = await app.fetch(new Request(`http://localhost${path}`, { method, ...init }));
    return { status: response.status, body: await response.json() };
  };
  return { app, ask };
}

test("an instance is created, seen waiting, sent its event and seen complete, all over HTTP", async () => {
  const { app, ask } = begin();
  await app.start();
  expect(await ask("GET", "/workflows")).toEqual({ status: 200, body: { workflows: [{ name: "order" }] } });
  expect(await ask("POST", "/workflows/order/instances", { id: "o-1", params: { userId: 7 } })).toEqual({
    status: 201,
    body: { id: "o-1", details: { status: "active" } },
  });
  await app.tick();
  const stream = await app.fetch(
    new Request("http://localhost/workflows/order/instances/o-1", {
      headers: { accept: "text/event-stream" },
    }),
  );
  const reader = stream.body!.pipeThrough(new TextDecoderStream()).getReader();
  let seen = "";
  while (!seen.includes('"status":"waiting"')) seen += (await reader.read()).value;
  expect(await ask("GET", "/workflows/order/instances/o-1/why")).toMatchObject({
    body: { reason: "waiting-for-event" },
  });
  await ask("POST", "/workflows/order/instances/o-1/events", { type: "approved", payload: { by: "kim" } });
  while (!seen.includes('"status":"complete"')) seen += (await reader.read()).value;
  await reader.cancel();
  expect(await ask("GET", "/workflows/order/instances/o-1")).toMatchObject({
    body: { details: { status: "complete", output: { user: { id: 7 }, by: "kim" } } },
  });
  console.log((await ask("GET", "/workflows/order/instances/o-1/history?includeLogs=true")).body);
  console.log(JSON.stringify((await ask("GET", "/openapi.json")).body).slice(0, 300));
  console.log((await ask("GET", "/verify")).body, (await ask("GET", "/healthz")).body);
  await app.stop();
});
