import { expect, test } from "vitest";
import { framesOf, ownFrame } from "./frames.ts";

const stack = `TypeError: fetch failed
 at the end of a message
    at node:internal/deps/undici/undici:13510:13
    at async request (/app/node_modules/http-kit/dist/request.js:8:3)
    at async charge (file:///app/src/bank.ts:41:11)
    at async /app/src/order.ts:12:5
    at async Turn.run (/app/node_modules/everstep/dist/engine.js:88:20)`;

test("the frame that is shown first is the author's own, not the engine's, a library's or the runtime's", () => {
  expect(ownFrame(stack)).toBe("at async charge (/app/src/bank.ts:41:11)");
  expect(framesOf(stack).map(({ isOwn }) => isOwn)).toEqual([false, false, true, true, false]);
});

test("a stack without a frame of the author's has none, and neither has no stack", () => {
  expect([ownFrame(undefined), ownFrame("Error: x"), ownFrame("Error\n    at node:events:1:1")]).toEqual([
    null,
    null,
    null,
  ]);
});
