import { expect, test } from "vitest";
import { FairLine, type Leave } from "./fair-line.ts";

function begin(max: number, maxPerClient: number) {
  const line = new FairLine({ max, maxPerClient });
  const inside: { readonly name: string; readonly leave: Leave }[] = [];
  const ask = (names: string): void => {
    for (const name of names.split(" ")) {
      const [client = ""] = name;
      void line.enter(client).then((leave) => inside.push({ name, leave }));
    }
  };
  const next = async (): Promise<string> => {
    await Promise.resolve();
    inside.shift()?.leave();
    await Promise.resolve();
    return inside.map(({ name }) => name).join(" ");
  };
  return { line, ask, next, inside };
}

test("clients come in turns, and each one's requests in their order", async () => {
  const { ask, next } = begin(1, 1);
  ask("a1 a2 a3 a4 b1 b2 c1");
  const order = [];
  for (let n = 0; n < 6; n++) order.push(await next());
  expect(order).toEqual(["a2", "b1", "c1", "a3", "b2", "a4"]);
});

test("nobody has more than its share, even if places are free", async () => {
  const { ask, next, inside } = begin(4, 2);
  ask("a1 a2 a3 a4");
  await Promise.resolve();
  expect(inside.map(({ name }) => name)).toEqual(["a1", "a2"]);
  ask("b1 c1 d1");
  await Promise.resolve();
  expect(inside.map(({ name }) => name)).toEqual(["a1", "a2", "b1", "c1"]);
  expect(await next()).toBe("a2 b1 c1 a3");
  expect(await next()).toBe("b1 c1 a3 d1");
  for (let n = 0; n < 5; n++) await next();
  expect(inside).toEqual([]);
  ask("a5 a6");
  await Promise.resolve();
  expect(inside.map(({ name }) => name)).toEqual(["a5", "a6"]);
});

test("who gives up is not waited for", async () => {
  const { line, ask, next } = begin(1, 1);
  ask("a1");
  const gone = new AbortController();
  const given = line.enter("a", gone.signal);
  ask("a2");
  gone.abort(new Error("enough"));
  await expect(given).rejects.toThrow("enough");
  await expect(line.enter("b", gone.signal)).rejects.toThrow("enough");
  expect(await next()).toBe("a2");
});
