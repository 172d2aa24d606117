/** A service that takes its time and fails now and then, in virtual time and by the chance of the seed. */
import { test } from "node:test";
import { defineWorkflow } from "everstep";
import { type SimulatedProcess, simulate } from "everstep/testing";

// #region service
class Mailbox {
  readonly mails = new Map<string, string>();
}

const mailer = (box: Mailbox, { clock, random }: SimulatedProcess) => ({
  async send(key: string, text: string): Promise<void> {
    await clock.sleep("2 seconds"); // the process may be killed here
    box.mails.set(key, text);
    if (random.chance(0.05)) throw new Error("the mail server did not answer");
  },
});

test("a customer has one mail, whatever happens", async () => {
  await simulate(
    (box: Mailbox, process) => {
      const service = mailer(box, process); // asked for by every process anew: this dies with it
      return {
        WELCOME: defineWorkflow({ name: "welcome" }, async (_event, step) => {
          await step.do("mail", async ({ idempotencyKey }) => service.send(idempotencyKey, "welcome"));
        }),
      };
    },
    {
      state: () => new Mailbox(),
      always: { "never two mails": ({ state }) => state.mails.size <= 1 },
      invariants: { "one mail": ({ state }) => state.mails.size === 1 },
    },
  );
});
// #endregion service
