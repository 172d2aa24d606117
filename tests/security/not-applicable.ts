import type { Gap } from "../regressions/named-ids.ts";

/** Expectations of what does not exist yet. Whoever builds it takes its row away and writes the test. */
export const expectationsNotApplicable: readonly Gap[] = [{ id: "SEC-25", reason: "Comes with metrics." }];

/** Expectations of which a part is tested, and the rest is about what does not exist yet. */
export const expectationsInPart: readonly Gap[] = [
  {
    id: "SEC-4",
    reason:
      "Requests are tested; there are no cookies and no sessions, the dashboard sends a token with each request.",
  },
  { id: "SEC-7", reason: "There are no callbacks or webhooks; whoever adds them tests where they may go." },
  {
    id: "SEC-15",
    reason:
      "What the engine tells is tested; and what the CLI shows; there is no redaction or encryption of fields yet.",
  },
  {
    id: "SEC-23",
    reason:
      "Events, batches, steps, bodies and streams are tested; log lines of a run have no cap, and there is no limit of " +
      "requests per second: that is for what stands in front.",
  },
  {
    id: "SEC-31",
    reason: "Page sizes and query plans are tested; tables of a million rows are for the bench.",
  },
  {
    id: "SEC-33",
    reason: "The package and the lockfile are tested; provenance and a bill of materials come with releases.",
  },
  {
    id: "SEC-34",
    reason:
      "Answers are tested; who fails to authenticate is not slowed down, as there is no limit of requests per second.",
  },
];
