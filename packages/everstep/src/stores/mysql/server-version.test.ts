import { expect, test } from "vitest";
import { requireVersion } from "./server-settings.ts";

test.each([
  "8.0.11",
  "8.0.36-28",
  "8.4.0",
  "9.1.0-commercial",
  "8.0.mysql_aurora.3.05.2",
  "10.6.0-MariaDB",
  "10.11.6-MariaDB-0+deb12u1",
  "11.4.2-MariaDB-log",
  "12.0.1-MariaDB",
])("%s will do", (version) => {
  expect(() => requireVersion(version, "The database")).not.toThrow();
});

test.each(["5.7.44", "5.5.5-10.5.2-MariaDB", "10.5.23-MariaDB", "8.0.11-TiDB-v7.5.0", ""])(
  "%j will not",
  (version) => {
    expect(() => requireVersion(version, "The database")).toThrow(
      expect.objectContaining({
        code: "RUNTIME_UNSUPPORTED",
        message: expect.stringContaining("MariaDB 10.6"),
      }),
    );
  },
);
