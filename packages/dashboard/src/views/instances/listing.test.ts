import { describe, expect, test } from "vitest";
import {
  addPage,
  type Listing,
  laterPagesBetween,
  mergeFirstPage,
  mergeLaterPage,
  startListing,
} from "./listing.ts";
import { listed, pageOf } from "./sample-rows.ts";

const pageSize = 3;
const ids = ({ rows }: Listing): string => rows.map(({ instanceId }) => instanceId).join(" ");
const atTop = { isHeld: false, pageSize };
const held = { isHeld: true, pageSize };

/** f e d | c b a, newest first. */
const twoPages = (): Listing =>
  addPage(startListing(pageOf(["f", "e", "d"], "1"), pageSize), pageOf(["c", "b", "a"]), pageSize);

describe("a list that is loaded page by page", () => {
  test("goes on where the page before ended, until there is no more", () => {
    const first = startListing(pageOf(["f", "e", "d"], "1"), pageSize);
    expect([ids(first), first.next]).toEqual(["f e d", "1"]);
    const both = twoPages();
    expect([ids(both), both.next]).toEqual(["f e d c b a", undefined]);
  });

  test("has every instance once, even if a page brings one again", () => {
    const listing = startListing(pageOf(["f", "e", "d"], "1"), pageSize);
    expect(ids(addPage(listing, pageOf(["d", "c"]), pageSize))).toBe("f e d c");
  });

  test("counts pages that were cut short because only so many are looked at", () => {
    const listing = startListing(pageOf([], "1"), pageSize);
    expect(listing.shortPages).toBe(1);
    expect(addPage(listing, pageOf(["a"], "2"), pageSize).shortPages).toBe(2);
    expect(addPage(listing, pageOf(["a"]), pageSize).shortPages).toBe(1);
    expect(twoPages().shortPages).toBe(0);
  });

  test("knows which later pages are on the screen", () => {
    expect(laterPagesBetween(twoPages(), 0, 3)).toEqual([]);
    expect(laterPagesBetween(twoPages(), 2, 4)).toEqual([1]);
    expect(laterPagesBetween(twoPages(), 3, 6)).toEqual([1]);
  });
});

describe("at the top of a live list", () => {
  test("new instances appear on top, and what was loaded further down stays", () => {
    const listing = mergeFirstPage(twoPages(), pageOf(["h", "g", "f"], "1"), atTop);
    expect(ids(listing)).toBe("h g f e d c b a");
    expect(laterPagesBetween(listing, 5, 8)).toEqual([1]);
  });

  test("an instance that no longer matches goes", () => {
    const listing = mergeFirstPage(twoPages(), pageOf(["f", "d", "c"], "1"), atTop);
    expect(ids(listing)).toBe("f d c b a");
  });

  test("more new instances than a page begin the list anew", () => {
    const listing = mergeFirstPage(twoPages(), pageOf(["k", "j", "i"], "9"), atTop);
    expect([ids(listing), listing.next]).toEqual(["k j i", "9"]);
  });

  test("a list that has become one page has nothing after it", () => {
    const listing = mergeFirstPage(twoPages(), pageOf(["f", "e"]), atTop);
    expect([ids(listing), listing.next]).toEqual(["f e", undefined]);
  });

  test("a first page in which nothing is found keeps what was found further on", () => {
    const empty = startListing(pageOf([], "1"), pageSize);
    const found = addPage(empty, pageOf(["b", "a"], "2"), pageSize);
    expect(ids(mergeFirstPage(found, pageOf([], "3"), atTop))).toBe("b a");
    expect(ids(mergeFirstPage(found, pageOf(["z"], "3"), atTop))).toBe("z b a");
  });

  test("rows that did not change stay the very same", () => {
    const before = twoPages();
    const after = mergeFirstPage(before, pageOf(["g", "f", "e"], "1"), atTop);
    expect(after.rows[1]).toBe(before.rows[0]);
  });
});

describe("while a person reads further down", () => {
  test("nothing moves: what is new is counted, and shown when they want it", () => {
    const listing = mergeFirstPage(twoPages(), pageOf(["h", "g", "f"], "1"), held);
    expect([ids(listing), listing.newCount, listing.isGap]).toEqual(["f e d c b a", 2, false]);
    const shown = mergeFirstPage(listing, pageOf(["h", "g", "f"], "1"), atTop);
    expect([ids(shown), shown.newCount]).toEqual(["h g f e d c b a", 0]);
  });

  test("rows are brought up to date in their place", () => {
    const now = [listed("f", { status: "errored" }), "e", "d"];
    const listing = mergeFirstPage(twoPages(), pageOf(now, "1"), held);
    expect([ids(listing), listing.rows[0]?.status]).toEqual(["f e d c b a", "errored"]);
  });

  test("more than a page of new ones is said to be more", () => {
    const listing = mergeFirstPage(twoPages(), pageOf(["k", "j", "i"], "9"), held);
    expect([ids(listing), listing.newCount, listing.isGap]).toEqual(["f e d c b a", 3, true]);
  });

  test("a later page is brought up to date, and who left the list keeps its place", () => {
    const now = [listed("c", { status: "errored" }), "a"];
    const listing = mergeLaterPage(twoPages(), 1, pageOf(now), pageSize);
    expect(ids(listing)).toBe("f e d c b a");
    expect(listing.rows[3]?.status).toBe("errored");
    expect(listing.rows.map(({ hasLeft }) => hasLeft)).toEqual([false, false, false, false, true, false]);
  });

  test("who comes back into the list has not left it", () => {
    const left = mergeLaterPage(twoPages(), 1, pageOf(["c", "a"]), pageSize);
    expect(mergeLaterPage(left, 1, pageOf(["c", "b", "a"]), pageSize).rows[4]?.hasLeft).toBe(false);
  });

  test("a page that did not change changes nothing", () => {
    const listing = twoPages();
    expect(mergeLaterPage(listing, 1, pageOf(["c", "b", "a"]), pageSize)).toBe(listing);
  });
});

describe("oldest first", () => {
  test("new instances come after the last one", () => {
    const listing = mergeLaterPage(twoPages(), 1, pageOf(["c", "b", "a"]), 4);
    const more = mergeLaterPage(listing, 1, pageOf(["c", "b", "a", "z"], "7"), 4);
    expect([ids(more), more.next]).toEqual(["f e d c b a z", "7"]);
  });

  test("also when the list is a single page that is held", () => {
    const listing = startListing(pageOf(["a", "b"]), pageSize);
    const more = mergeFirstPage(listing, pageOf(["a", "b", "c"]), held);
    expect([ids(more), more.newCount]).toEqual(["a b c", 0]);
  });
});
