import { describe, expect, test } from "vitest";
import { requestUrl } from "./request-url.ts";

function urlOf(target: string, hosts: readonly string[] = ["example.com"], isEncrypted = false): string {
  return new URL(requestUrl({ target, hosts, isEncrypted })).href;
}

test.each([
  ["/workflows?status=active", "http://example.com/workflows?status=active"],
  ["/", "http://example.com/"],
  ["/a%2Fb/%2e%2e%2f", "http://example.com/a%2Fb/%2e%2e%2f"],
  ["//evil.example/x", "http://example.com//evil.example/x"],
  ["/a:b@c", "http://example.com/a:b@c"],
  ["/...", "http://example.com/..."],
  ["/?next=/../x", "http://example.com/?next=/../x"],
])("the target %s stays under the host", (target, url) => {
  expect(urlOf(target)).toBe(url);
});

test.each([
  ["example.com:8080", "http://example.com:8080/"],
  ["LOCALHOST:4610", "http://localhost:4610/"],
  ["127.0.0.1:4610", "http://127.0.0.1:4610/"],
  ["[::1]:4610", "http://[::1]:4610/"],
])("the host %s is used", (host, url) => {
  expect(urlOf("/", [host])).toBe(url);
});

test("over TLS it is https", () => {
  expect(urlOf("/x", ["example.com"], true)).toBe("https://example.com/x");
});

test.each([
  [],
  [""],
  ["a b"],
  ["evil.example/path?"],
  ["user@evil.example"],
  ["evil.example#"],
  ["127.0.0.1:4610:1"],
  ["localhost:99999999"],
  ["-x"],
  ["ä.example"],
  ["a".repeat(301)],
])("in place of the host %j stands one that nobody allows", (...hosts) => {
  expect(urlOf("/x", hosts)).toBe("http://host.invalid/x");
});

test("two Host headers are refused, even if they are the same (SEC-6)", () => {
  for (const second of ["example.com", "evil.example"]) {
    expect(() => urlOf("/", ["example.com", second])).toThrow("more than one Host");
  }
});

describe("a whole URL as the target", () => {
  test.each([
    ["http://example.com/a?b", "http://example.com/a?b"],
    ["HTTP://EXAMPLE.com/a", "http://example.com/a"],
    ["https://example.com", "http://example.com/"],
    ["http://example.com?x=1", "http://example.com/?x=1"],
  ])("%s is understood", (target, url) => {
    expect(urlOf(target)).toBe(url);
  });

  test.each([
    "http://evil.example/",
    "http://example.com@evil.example/",
    "http:///x",
    "http://example.com:81/",
  ])("%s is refused, because the Host header says something else", (target) => {
    expect(() => urlOf(target)).toThrow("another in its Host header");
  });
});

test.each(["*", "", "example.com:443", "ftp://example.com/", "javascript:alert(1)", "x"])(
  "the target %j is refused",
  (target) => {
    expect(() => urlOf(target)).toThrow(expect.objectContaining({ code: "INVALID_ARGUMENT" }));
  },
);

test("a backslash in a path is refused, because URLs take it for a slash and others do not (R-094)", () => {
  expect(() => urlOf("/a\\..\\b")).toThrow("backslash");
  expect(() => urlOf("/workflows\\order")).toThrow("backslash");
  expect(urlOf("/a?x=\\")).toBe("http://example.com/a?x=\\");
});

test.each(["/a/../b", "/..", "/a/%2e%2E/b", "/./a", "/a/.%2e", "/a/..?x"])(
  "the path %s is refused, because whoever looked at it before saw another one (R-094)",
  (target) => {
    expect(() => urlOf(target)).toThrow('"." or ".."');
  },
);
