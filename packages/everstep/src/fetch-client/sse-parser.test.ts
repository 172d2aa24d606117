import { describe, expect, test } from "vitest";
import { type ServerEvent, SseParser } from "./sse-parser.ts";

function read(text: string): ServerEvent[] {
  return new SseParser().push(text);
}

const message = (data: string, id = ""): ServerEvent => ({ type: "message", data, id });

test.each<[string, string, ServerEvent[]]>([
  ["an event with data", "data: hello\n\n", [message("hello")]],
  ["an event with a name", "event: log\ndata: 1\n\n", [{ type: "log", data: "1", id: "" }]],
  ["data of several lines", "data: a\ndata\ndata: b\n\n", [message("a\n\nb")]],
  ["only the first space after the colon is no data", "data:  a \ndata:b\n\n", [message(" a \nb")]],
  ["a colon in the data", "data: a: b\n\n", [message("a: b")]],
  ["empty data", "data:\n\n", [message("")]],
  ["comments", ": ok\n:\ndata: a\n: in between\n\n: ok\n\n", [message("a")]],
  ["no event without data", "event: log\nid: 7\n\n", []],
  ["a name does not outlive its event", "event: log\n\ndata: a\n\n", [message("a")]],
  [
    "an id stays until the next",
    "id: 7\ndata: a\n\ndata: b\n\nid\ndata: c\n\n",
    [message("a", "7"), message("b", "7"), message("c")],
  ],
  ["an id with NUL is no id", "id: a\0b\ndata: a\n\n", [message("a")]],
  ["unknown fields are left alone", "colour: red\nDATA: x\n data: y\ndata: a\n\n", [message("a")]],
  [
    "CRLF",
    "event: log\r\ndata: a\r\n\r\ndata: b\r\n\r\n",
    [{ type: "log", data: "a", id: "" }, message("b")],
  ],
  ["CR alone", "data: a\r\rdata: b\r\r", [message("a"), message("b")]],
  [
    "all line ends mixed",
    "data: a\r\ndata: b\ndata: c\r\n\ndata: d\r\r\n",
    [message("a\nb\nc"), message("d")],
  ],
  ["an unfinished event is none", "data: a\n\ndata: b\n", [message("a")]],
])("reads %s", (_what, text, events) => {
  expect(read(text)).toEqual(events);
});

describe("a stream in pieces", () => {
  const text = 'retry: 250\r\n: ok\n\nid: é-1\revent: log\r\ndata: ä€😀\ndata: {"a":1}\r\n\r\ndata: last\n\n';
  const events = read(text);

  test("is read alike wherever it is cut", () => {
    expect(events).toHaveLength(2);
    for (let cut = 0; cut <= text.length; cut++) {
      const parser = new SseParser();
      expect([...parser.push(text.slice(0, cut)), ...parser.push(text.slice(cut))]).toEqual(events);
      expect(parser.retryMs).toBe(250);
    }
  });

  test("is read alike character by character", () => {
    const parser = new SseParser();
    expect([...text].flatMap((character) => parser.push(character))).toEqual(events);
  });

  test("is read alike byte by byte, in the middle of characters too", () => {
    const parser = new SseParser();
    const decoder = new TextDecoder();
    const bytes = new TextEncoder().encode(text);
    const pieces = Array.from(bytes, (byte) => decoder.decode(Uint8Array.of(byte), { stream: true }));
    expect(pieces.flatMap((piece) => parser.push(piece))).toEqual(events);
  });

  test("an empty piece between CR and LF changes nothing", () => {
    const parser = new SseParser();
    expect(["data: a\r", "", "\n", "\r", "", "\n"].flatMap((piece) => parser.push(piece))).toEqual([
      message("a"),
    ]);
  });
});

test("a retry time that is no number is not taken", () => {
  const parser = new SseParser();
  parser.push("retry: 100\nretry: soon\nretry: -5\nretry: 1e9\nretry:\n");
  expect(parser.retryMs).toBe(100);
});

test("a stream that goes on knows the id it goes on after", () => {
  expect(new SseParser({ lastEventId: "1-7" }).push("data: a\n\n")).toEqual([message("a", "1-7")]);
});

describe("an event without end", () => {
  test.each([
    ["one line", "data: aaaaaaaaaa"],
    ["line after line", "data: aaaaaaaaaa\n"],
  ])("is given up before it fills the memory: %s", (_what, piece) => {
    const parser = new SseParser({ charsMax: 100 });
    const flood = (): void => {
      for (let n = 0; n < 20; n++) parser.push(piece);
    };
    expect(flood).toThrow(expect.objectContaining({ code: "ANSWER_NOT_UNDERSTOOD" }));
  });

  test("is not confused with many short ones", () => {
    const parser = new SseParser({ charsMax: 100 });
    for (let n = 0; n < 50; n++) expect(parser.push("data: aaaaaaaaaa\n\n: ok\n")).toHaveLength(1);
  });
});
