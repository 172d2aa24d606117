import { expect, test } from "vitest";
import type { Claim } from "../model/lease.ts";
import { committed } from "../store/apply/moves.ts";
import { lastBoundary, unreadable } from "./unfit.ts";

test("an end that a pause drops forgets neither what had begun nor how often runners died (INV-9)", () => {
  const begun = [{ key: "order by fax#1", name: "order by fax", start: 1, at: 5 }];
  const claim = { begun, eventSeq: 3, confirmed: false, crashCount: 4 } as unknown as Claim;
  const boundary = lastBoundary(claim, unreadable(new Error("damaged")));
  expect(committed({ crashCount: 4 }, boundary, 10)).toMatchObject({ begun, crashCount: 4 });
});
