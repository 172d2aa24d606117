import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { expect, test } from "vitest";

function run(where: string) {
  const options = ["--conditions=everstep-source", "--disable-warning=ExperimentalWarning"];
  return spawnSync(process.execPath, [...options, join(import.meta.dirname, "stray.ts"), where], {
    encoding: "utf8",
    timeout: 100_000,
  });
}

test.each([
  ["unawaited helper", "A promise that nobody awaited was rejected: Error: nobody hears"],
  ["timer", "A callback threw where nobody could catch it: Error: nobody catches"],
  ["emitter", "A callback threw where nobody could catch it: Error: nobody listens"],
])(
  "an error that a workflow left unhandled (%s) harms neither the process nor its neighbours (R-045)",
  (where, line) => {
    const { status, stdout, stderr } = run(where);
    expect(stderr).toBe("");
    expect(status).toBe(0);
    const { outputs, lines } = JSON.parse(stdout);
    expect(outputs).toEqual(["unharmed", "done"]);
    expect(lines).toEqual([expect.stringContaining(line)]);
  },
);

test.each([
  ["host rejection", "the host's own mistake"],
  ["host exception", "nobody catches"],
])("an error of the host's own (%s) ends the process as it would without a runner", (where, message) => {
  const { status, stdout, stderr } = run(where);
  expect(status).toBe(1);
  expect(stdout).toBe("");
  expect(stderr).toContain(message);
});
