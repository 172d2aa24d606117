import { mkdtempSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable, Writable } from "node:stream";
import { afterAll, expect, test } from "vitest";
import { readJsonFrom } from "./json-source.ts";
import { processInput } from "./process-input.ts";

const folder = mkdtempSync(join(tmpdir(), "json-source-"));
afterAll(() => rmSync(folder, { recursive: true }));

const endless = new Readable({
  read() {
    this.push(Buffer.alloc(1024 * 1024, " "));
  },
});

function given(stdin: Readable) {
  return { cwd: folder, input: processInput(stdin as NodeJS.ReadStream, new Writable()) };
}

test("JSON comes from a file or from standard input, in pieces that may cut letters", async () => {
  writeFileSync(join(folder, "params.json"), '{"name": "Zoë"}');
  expect(await readJsonFrom("params", undefined, "params.json", given(Readable.from([])))).toEqual({
    name: "Zoë",
  });
  const bytes = Buffer.from('"Zoë"');
  const cut = Readable.from([bytes.subarray(0, 4), bytes.subarray(4)]);
  expect(await readJsonFrom("params", undefined, "-", given(cut))).toBe("Zoë");
});

test("what is larger than any server takes, or has no end, is not read to its end", async () => {
  writeFileSync(join(folder, "huge.json"), "");
  truncateSync(join(folder, "huge.json"), 4 * 1024 ** 3);
  const files = ["huge.json", "-", ...(process.platform === "linux" ? ["/dev/zero"] : [])];
  for (const file of files) {
    await expect(readJsonFrom("params", undefined, file, given(endless)), file).rejects.toThrow(
      /has more than 16 MiB, which no server takes\./,
    );
  }
});
