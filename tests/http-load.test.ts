import { execFile } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";

// No figure is judged here: machines that run tests are too busy for that.

function run(...args: string[]): Promise<{ stdout: string }> {
  const node = [
    "--conditions=everstep-source",
    "--disable-warning=ExperimentalWarning",
    "bench/http-load.ts",
  ];
  return promisify(execFile)(process.execPath, [...node, ...args]);
}

test("many clients of one server have no errors, and nothing they created is lost", async () => {
  const folder = mkdtempSync(join(tmpdir(), "everstep-http-load-"));
  try {
    const { stdout } = await run("--clients", "50", "--seconds", "1", "--dir", folder);
    expect(stdout).toContain("errors: none");
    expect(stdout).toMatch(/^all +\d+/m);
    const [, created, kept] = /instances: (\d+) created, (\d+) in the store/.exec(stdout) ?? [];
    expect(Number(created)).toBeGreaterThan(0);
    expect(kept).toBe(created);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

test.each([["--clients", "0"], ["--store", "paper"], ["--colour"]])(
  "%s %s is a usage error",
  async (...args) => {
    const words = args.filter((word) => word !== undefined);
    await expect(run(...words)).rejects.toMatchObject({ code: 2, stderr: expect.stringContaining("usage:") });
  },
);
