import { expect, test } from "vitest";
import { type AnswerKind, expectShown } from "./shown-answer.ts";

test.each<[AnswerKind, string, string]>([
  ["json", '{ "a": 1, ... }', '{"a":1,"b":2}'],
  ["json", '{ "a": { ... }, "b": [...], ... }', '{"a":{"x":1},"b":[1,2],"c":3}'],
  ["json", '{ "list": [{ "a": 1, ... }, ...] }', '{"list":[{"a":1,"b":2},{"a":3}]}'],
  ["json", '{ "text": "..." }', '{"text":"..."}'],
  ["json", '{"id":"0b200104-2d2c-4f0c-a00e-ee3a6f43ec9d"}', '{"id":"7c1f0a44-0d2c-4f0c-b00e-ee3a6f43ec9d"}'],
  ["http", "HTTP/1.1 200 OK\netag: 1\n\n{ ... }", 'HTTP/1.1 200 OK\r\nETag: 1\r\ndate: now\r\n\r\n{"a":1}'],
  ["http", "HTTP/1.1 304 Not Modified", "HTTP/1.1 304 Not Modified\r\netag: 1\r\n\r\n"],
  [
    "text",
    'retry: 1\n\nid: a\nevent: e\ndata: {"a":1,...}',
    'retry: 1\n\nid: b\nevent: e\ndata: {"a":1,"b":2}\n\n',
  ],
])("%s: what is left out may be anything: %s", (kind, shown, actual) => {
  expectShown(kind, shown, actual);
});

test.each<[AnswerKind, string, string]>([
  ["json", '{ "a": 1 }', '{"a":1,"b":2}'],
  ["json", '{ "a": 1, "b": 2 }', '{"a":1}'],
  ["json", '{ "a": 1, ... }', '{"a":2,"b":2}'],
  ["json", '{ "a": 1, ... }', '{"b":2}'],
  ["json", '{ "list": [{ "a": 1, ... }, ...] }', '{"list":[{"a":2},{"a":3}]}'],
  ["json", '{ "list": [1, ...] }', '{"list":[]}'],
  ["json", "[1]", "[1,2]"],
  ["json", '{ "a": {} }', '{"a":null}'],
  ["http", "HTTP/1.1 200 OK\netag: 1\n\n{ ... }", 'HTTP/1.1 200 OK\r\n\r\n{"a":1}'],
  ["http", "HTTP/1.1 200 OK", 'HTTP/1.1 200 OK\r\n\r\n{"a":1}'],
  ["http", "HTTP/1.1 201 Created\n\n{ ... }", "HTTP/1.1 200 OK\r\n\r\n{}"],
  ["text", 'retry: 1\n\nevent: e\ndata: {"a":1}', 'retry: 1\n\nevent: e\ndata: {"a":2}\n\n'],
  ["text", 'retry: 1\n\nevent: e\ndata: {"a":1}', 'retry: 1\n\nevent: f\ndata: {"a":1}\n\n'],
  ["text", 'retry: 1\n\nevent: e\ndata: {"a":1}', "retry: 1\n\n"],
])("%s: what is shown is not anything else: %s", (kind, shown, actual) => {
  expect(() => expectShown(kind, shown, actual)).toThrow();
});
