import { allowAll } from "everstep";
import { expect, test } from "vitest";
import { createWatched } from "./support/watched-app.ts";

test("a history with its logs is of one run, although the instance is restarted while it is read", async () => {
  const { app, store } = createWatched({ authorize: allowAll() });
  await app.workflows.CHATTY.create({ id: "c", params: { steps: 2 } });
  await app.tick();
  const stop = store.stopAfter("listEvents");
  const path = "http://localhost/chatty/instances/c/history?includeLogs=true";
  const answer = app.fetch(new Request(path));
  await stop.reached;
  await app.workflows.CHATTY.at("c").restart();
  await stop.continue();
  const { runNumber, steps, logs } = await (await answer).json();
  expect([runNumber, steps.length, logs.map(({ id }: { id: string }) => id)]).toEqual([1, 3, ["1-1", "1-2"]]);
});
