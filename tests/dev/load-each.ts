/** Loads each file that is named, and prints what a person would be told, as JSON. For load-problems.test.ts. */
import { loadFile } from "../../packages/everstep/src/cli/host/user-file/load-file.ts";
import { problemLines } from "../../packages/everstep/src/cli/host/user-file/load-problem.ts";

const told: Record<string, readonly string[]> = {};
for (const file of process.argv.slice(2)) {
  const loading = await loadFile(file);
  told[file] = loading.kind === "failed" ? problemLines(loading.problem, process.cwd()) : ["loaded"];
}
process.stdout.write(JSON.stringify(told));
