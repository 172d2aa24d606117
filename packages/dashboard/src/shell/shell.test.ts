import type { WireInstancesWithMeta } from "everstep/client";
import { expect, test } from "vitest";
import { foundLink } from "./found-link.ts";
import { nextTheme, themes } from "./theme.ts";

const page = (ids: readonly string[], hasNextPage = false): WireInstancesWithMeta =>
  ({ instances: ids.map((id) => ({ id, meta: { workflowName: "order" } })), hasNextPage }) as never;

test("the only instance whose id begins so is opened; of several, or none yet, there is a list", () => {
  expect(foundLink("o-1", page(["o-12"]))).toBe("/instances/order/o-12");
  expect(foundLink("o-1", page(["o-12", "o-13"]))).toBe("/instances?id=o-1");
  expect(foundLink("o-1", page(["o-12"], true))).toBe("/instances?id=o-1");
  expect(foundLink("o 1&", page([]))).toBe("/instances?id=o+1%26");
});

test("the switch goes through all themes and comes back to the system's", () => {
  expect(themes.map(nextTheme)).toEqual(["light", "dark", "system"]);
});
