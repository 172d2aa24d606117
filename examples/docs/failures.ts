/** A step that failed for good throws; undoing is a step like any other. */
import assert from "node:assert/strict";
import { defineWorkflow } from "everstep";
import { createTestHarness } from "everstep/testing";

const journal: string[] = [];
const rooms = {
  book: async () => void journal.push("room booked"),
  cancel: async () => void journal.push("room cancelled"),
};
class NoSeats extends Error {
  override name = "NoSeats";
  flight = "LX 8";
}
const flights = {
  book: async () => {
    throw new NoSeats("There are no seats left.");
  },
};

// #region undo
const trip = defineWorkflow({ name: "trip" }, async (_event, step) => {
  await step.do("book room", () => rooms.book());
  try {
    await step.do("book flight", { retries: { limit: 1, delay: "1 second" } }, () => flights.book());
  } catch (error) {
    await step.do("cancel room", () => rooms.cancel());
    throw error; // the instance is errored; without this line it would go on
  }
});
// #endregion undo

const harness = createTestHarness({ workflows: { TRIP: trip } });
await harness.workflows.TRIP.create({ id: "trip-1" });
await harness.advance("1 minute");
assert.deepEqual(await harness.status("trip-1"), {
  status: "errored",
  error: { name: "NoSeats", message: "There are no seats left." },
});
assert.deepEqual(journal, ["room booked", "room cancelled"]);
await harness.stop();
