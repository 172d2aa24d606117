import { afterEach, expect, test, vi } from "vitest";

afterEach(() => {
  vi.doUnmock("mysql2/promise");
  vi.resetModules();
});

test("without the driver the first call says which package to install, and nothing before it does", async () => {
  vi.resetModules();
  vi.doMock("mysql2/promise", () => {
    throw new Error("Cannot find package 'mysql2'");
  });
  const { mysql } = await import("./index.ts");
  const store = mysql("mysql://localhost/x");
  await expect(store.migrate()).rejects.toMatchObject({
    name: "EverstepError",
    code: "RUNTIME_UNSUPPORTED",
    message: expect.stringContaining("npm install mysql2"),
  });
  await store.close();
});
