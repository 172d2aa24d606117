import { beforeEach, expect, test, vi } from "vitest";
import { keepToken, readToken, takeOffered } from "./token.ts";

const replaced = vi.fn();

function follow(hash: string): string | null {
  vi.stubGlobal("location", { hash, pathname: "/dashboard/", search: "?a=1" });
  return readToken(replaced);
}

beforeEach(() => {
  const kept = new Map<string, string>();
  replaced.mockClear();
  vi.stubGlobal("sessionStorage", {
    getItem: (name: string) => kept.get(name) ?? null,
    setItem: (name: string, value: string) => kept.set(name, value),
    removeItem: (name: string) => kept.delete(name),
  });
  vi.stubGlobal("location", { hash: "", pathname: "/", search: "" });
  keepToken(null);
});

test("a link brings a token to who has none, and it is in the address no longer", () => {
  expect(follow("#token=first")).toBe("first");
  expect(replaced).toHaveBeenCalledWith("/dashboard/?a=1");
  expect(follow("")).toBe("first");
});

test("a link never replaces the token in use; its own is there for when that one is refused", () => {
  follow("#token=mine");
  expect(follow("#token=theirs")).toBe("mine");
  expect([takeOffered(), takeOffered()]).toEqual(["theirs", null]);
  expect(follow("#token=mine")).toBe("mine");
  expect(takeOffered()).toBeNull();
});

test("who signs out is not signed in by a link that was followed before", () => {
  follow("#token=mine");
  follow("#token=theirs");
  keepToken(null);
  expect([follow(""), takeOffered()]).toEqual([null, null]);
});
