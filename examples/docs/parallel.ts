/** Steps side by side: all of them, and the first of them. */
import assert from "node:assert/strict";
import { defineWorkflow } from "everstep";
import { createTestHarness } from "everstep/testing";

const seats = ["12A", "12B", "12C"];
const reserve = async (seat: string) => `reserved ${seat}`;

// #region all
const booking = defineWorkflow({ name: "booking" }, async (_event, step) =>
  Promise.all(seats.map((seat) => step.do(`reserve ${seat}`, async () => reserve(seat)))),
);
// #endregion all

// #region race
const offer = defineWorkflow({ name: "offer" }, async (_event, step) => {
  const first = await Promise.race([
    step.waitForEvent("accepted", { type: "accepted", timeout: "30 days" }).then(() => "accepted"),
    step.sleep("offer ends", "1 week").then(() => "too late"),
  ]);
  await step.sleep("until the books are closed", "1 day");
  return first;
});
// #endregion race

const harness = createTestHarness({ workflows: { BOOKING: booking, OFFER: offer } });
await harness.workflows.BOOKING.create({ id: "booking-1" });
await harness.workflows.OFFER.create({ id: "offer-1" });
await harness.advance("1 week");
assert.deepEqual((await harness.status("booking-1")).output, [
  "reserved 12A",
  "reserved 12B",
  "reserved 12C",
]);

// The race is over. What arrives now, and a new process, do not change who won.
await harness.sendEvent("offer-1", { type: "accepted" });
await harness.runUntilIdle();
await harness.restartRunner();
await harness.advance("1 day");
assert.equal((await harness.status("offer-1")).output, "too late");
// The wait that lost stayed open and took the event.
assert.equal((await harness.history("offer-1")).events[0]?.consumedByStepKey, "accepted");
await harness.stop();
