/** `node scripts/up.mjs run bench/summary.ts [folder]`: makes the summary of bench/results again, or of another folder. */
import { resultsFolder, SummaryError, writeSummary } from "./summary/write.ts";

try {
  writeSummary(process.argv[2] ?? resultsFolder);
} catch (error) {
  if (!(error instanceof SummaryError)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 2;
}
