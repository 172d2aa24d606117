import { describe, expect, test } from "vitest";
import { Sink } from "./sink.ts";

async function textOf({ body }: Sink): Promise<string> {
  return await new Response(body).text();
}

describe("a stream of events", () => {
  test("writes each as the standard says, with its id before its data", async () => {
    const sink = new Sink(() => {});
    sink.send({ event: "log", id: "1-2", data: { text: "a\nb" } });
    sink.send({ event: "end", data: null });
    sink.close();
    expect(await textOf(sink)).toBe(
      'id: 1-2\nevent: log\ndata: {"text":"a\\nb"}\n\nevent: end\ndata: null\n\n',
    );
  });

  test("is ready for more only when what was sent has been taken", async () => {
    const sink = new Sink(() => {});
    const reader = sink.body.getReader();
    await sink.ready();
    sink.write("one");
    let isReady = false;
    const ready = sink.ready().then(() => {
      isReady = true;
    });
    await Promise.resolve();
    expect([isReady, sink.hasRoom]).toEqual([false, false]);
    await reader.read();
    await ready;
    expect([isReady, sink.hasRoom]).toEqual([true, true]);
  });

  test("tells once that it was closed, from whichever side, and takes nothing more", async () => {
    let closed = 0;
    const ended = new Sink(() => closed++);
    ended.close();
    ended.close();
    ended.write("late");
    expect([closed, await textOf(ended), ended.isOpen]).toEqual([1, "", false]);
    const left = new Sink(() => closed++);
    await left.body.cancel();
    left.close();
    left.send({ event: "x", data: 1 });
    expect([closed, left.isOpen]).toEqual([2, false]);
  });

  test("keeps nobody waiting who waits to send when it is closed", async () => {
    const sink = new Sink(() => {});
    sink.write("one");
    const waiting = sink.ready();
    sink.close();
    await waiting;
    expect(sink.isOpen).toBe(false);
  });
});
