import { EverstepError } from "everstep";

const told = new Set<string>();

/** For apps: each problem once. Settings of the server are left out, because the report names them. */
export function tellProblem(problem: unknown): void {
  if (problem instanceof EverstepError && problem.code === "STORE_UNSAFE") return;
  const text = problem instanceof Error ? (problem.stack ?? problem.message) : String(problem);
  if (told.has(text)) return;
  told.add(text);
  process.stderr.write(`${text}\n`);
}
