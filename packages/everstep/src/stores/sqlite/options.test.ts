import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, test } from "vitest";
import { sqlite } from "./index.ts";
import { readOptions } from "./options.ts";

test("a path alone is enough, and the defaults are the safe ones", () => {
  expect(readOptions("data/app.db")).toMatchObject({
    file: resolve("data/app.db"),
    synchronous: "full",
    busyTimeoutMs: 250,
    namespace: "everstep",
  });
});

test("a file URL names the same file", () => {
  expect(readOptions(pathToFileURL("/tmp/a b.db").href).file).toBe("/tmp/a b.db");
});

test(":memory: is no file", () => {
  expect(readOptions(":memory:").file).toBeNull();
  expect(sqlite(":memory:").capabilities.durable.has).toBe(false);
});

test.each([
  [{ path: "" }, /path/],
  [{ path: "x", synchronous: "off" }, /"full" and "normal"/],
  [{ path: "x", busyTimeoutMs: 251 }, /0 to 250/],
  [{ path: "x", busyTimeoutMs: 1.5 }, /whole milliseconds/],
  [{ path: "x", namespace: "Every" }, /namespace/],
  [{ path: "x", namespace: "1st" }, /namespace/],
  [{ path: "x", namespace: "a; DROP TABLE b" }, /namespace/],
  [{ path: "x", namespace: "x".repeat(32) }, /31/],
])("%j is refused with what would be right", (options, sentence) => {
  expect(() => sqlite(options as never)).toThrow(sentence);
});
