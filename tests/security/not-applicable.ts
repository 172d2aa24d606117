import type { Gap } from "../regressions/named-ids.ts";

const http = "Comes with the HTTP API.";
const dashboard = "Comes with the HTTP API and the dashboard.";
const cli = "Comes with the CLI.";

/** Expectations of what does not exist yet. Whoever builds it takes its row away and writes the test. */
export const expectationsNotApplicable: readonly Gap[] = [
  { id: "SEC-1", reason: http },
  { id: "SEC-2", reason: http },
  { id: "SEC-3", reason: http },
  { id: "SEC-4", reason: dashboard },
  { id: "SEC-5", reason: http },
  { id: "SEC-6", reason: dashboard },
  { id: "SEC-8", reason: dashboard },
  { id: "SEC-9", reason: "Comes with the HTTP API and the CLI, which are the first to write headers." },
  { id: "SEC-13", reason: http },
  { id: "SEC-14", reason: "Comes with the HTTP API, which is the first to check tokens." },
  { id: "SEC-24", reason: cli },
  { id: "SEC-25", reason: "Comes with metrics." },
  { id: "SEC-26", reason: http },
  { id: "SEC-27", reason: dashboard },
  { id: "SEC-28", reason: cli },
  { id: "SEC-29", reason: dashboard },
  { id: "SEC-30", reason: http },
  { id: "SEC-34", reason: http },
];

/** Expectations of which the engine's and the stores' part is tested. */
export const expectationsInPart: readonly Gap[] = [
  { id: "SEC-7", reason: "There are no callbacks or webhooks; whoever adds them tests where they may go." },
  { id: "SEC-10", reason: "The grammar of ids is tested; paths come with the HTTP API and the CLI." },
  {
    id: "SEC-12",
    reason: "Values are tested; bodies that stream, inflate or are no UTF-8 come with the HTTP API.",
  },
  {
    id: "SEC-15",
    reason: "What the engine tells is tested; there is no redaction or encryption of fields yet, and no CLI.",
  },
  { id: "SEC-22", reason: "The client is tested; fields of bodies come with the HTTP API." },
  {
    id: "SEC-23",
    reason:
      "Events, batches and steps are tested; log lines of a run have no cap, rates come with the HTTP API.",
  },
  {
    id: "SEC-31",
    reason: "Page sizes and query plans are tested; tables of a million rows are for the bench.",
  },
  {
    id: "SEC-33",
    reason: "The package and the lockfile are tested; provenance and a bill of materials come with releases.",
  },
];
