import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseJson } from "./json.ts";

// Shapes as any program may make them: keys with backslashes, behind others and alone. They are what V8 compares with.
const bs = "\\";
const pathLike = [bs, bs + bs, `${bs}n`, `${bs}u`, `${bs}"`, `a${bs}`, `C:${bs}${bs}`, `line one${bs}`];
const shapes = ["", "b", "k0"].flatMap((first) => pathLike.map((key) => ({ [first]: 0, [key]: 1 })));

describe("keys with escapes are read as they are written", () => {
  test.each([
    ['{"b":0,"\\n":1}', "\n"],
    ['{"b":0,"\\"":1}', '"'],
    ['{"b":0,"\\\\":1}', "\\"],
    ['{"b":0,"\\u0061":1}', "a"],
    ['{"b":0,"\\ud800":1}', "\ud800"],
    ['{"b":0,"\\n" \r\n\t :1}', "\n"],
    ['{"b":0,"\\u0061b":1}', "ab"],
    ['{"b":0,"a\\n":1}', "a\n"],
    ['{"b":0,"line one\\n":1}', "line one\n"],
    ['{"b":0,"C:\\\\a":1}', "C:\\a"],
  ])("%s", (text, key) => {
    expect(Object.entries(parseJson(text) as object)).toEqual([
      ["b", 0],
      [key, 1],
    ]);
    expect(shapes.length).toBeGreaterThan(0);
  });

  const unit = fc.constantFrom(
    ...["\u0000", "\n", "\u001f", '"', "\\", "/", "\ud800", "\udfff", "a", "n", "u", "k", "0", "1", "é", ":"],
  );
  const key = fc.array(fc.tuple(unit, fc.constantFrom("raw", "short", "hex")), { maxLength: 4 });
  const entries = fc.array(fc.tuple(key, fc.integer({ min: 0, max: 9 })), { maxLength: 4 });

  test("any keys, however they are written, in any order and more than once", () => {
    fc.assert(
      fc.property(fc.array(entries, { minLength: 1, maxLength: 3 }), (objects) => {
        const text = `[${objects.map((object) => `{${object.map(written).join(" , ")}}`).join(",")}]`;
        const wanted = objects.map((object) => Object.entries(meant(object)));
        const read = parseJson<object[]>(text);
        expect(read.map((object) => Object.entries(object))).toEqual(wanted);
        const again = parseJson<object[]>(JSON.stringify(read));
        expect(again.map((object) => Object.entries(object))).toEqual(wanted);
      }),
      { numRuns: 3000 },
    );
  });

  type Written = readonly (readonly [string, string])[];

  function written([parts, value]: readonly [Written, number]): string {
    return `"${parts.map(([char, how]) => spell(char, how)).join("")}"  :${value}`;
  }

  function spell(char: string, how: string): string {
    if (how === "hex") return `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`;
    return how === "short" && char === "/" ? "\\/" : JSON.stringify(char).slice(1, -1);
  }

  function meant(object: readonly (readonly [Written, number])[]): object {
    const made = {};
    for (const [parts, value] of object) {
      const name = parts.map(([char]) => char).join("");
      Object.defineProperty(made, name, { value, writable: true, enumerable: true, configurable: true });
    }
    return made;
  }
});

describe("everything else is as JSON.parse has it", () => {
  test("the last of several equal keys counts, at the place of the first", () => {
    expect(JSON.stringify(parseJson('{"a":1,"x":0,"\\u0061":2}'))).toBe('{"a":2,"x":0}');
    expect(JSON.stringify(parseJson('{"\\u0061":2,"x":0,"a":1}'))).toBe('{"a":1,"x":0}');
    expect(JSON.stringify(parseJson('{"a":1,"\\u0061":2,"a":3}'))).toBe('{"a":3}');
  });

  test("the order of keys stays, and numbers come first", () => {
    expect(JSON.stringify(parseJson('{"z":1,"\\n":2,"\\u0031":3,"a":4}'))).toBe(
      '{"1":3,"z":1,"\\n":2,"a":4}',
    );
  });

  test("a key __proto__ is a key", () => {
    const value = parseJson<object>('{"__proto__":{"x":1},"\\u005f_proto__":{"y":1},"\\n":2}');
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
    expect(Object.entries(value)).toEqual([
      ["__proto__", { y: 1 }],
      ["\n", 2],
    ]);
  });

  test("names that stand in for keys are never those of other keys", () => {
    const text = '{"k0":1,"\\u006b1":2,"\\n":3,"k2":{"\\t":4},"s":"k3\\n"}';
    expect(JSON.stringify(parseJson(text))).toBe('{"k0":1,"k1":2,"\\n":3,"k2":{"\\t":4},"s":"k3\\n"}');
  });

  test("values that look like keys are values", () => {
    const value = { a: '"\\n":', b: ["\n", ":", '\\"', "\\"], "\n": '{"\\n":1}' };
    expect(parseJson(JSON.stringify(value))).toStrictEqual(value);
  });

  test.each(["", "{", '{"\\n":1', '{"\\n":1}}', '["\\x"]', '"\\', "\\", '{"a":"\\n}'])(
    "%s is no JSON",
    (text) => {
      expect(thrownBy(() => parseJson(text))).toEqual(thrownBy(() => JSON.parse(text)));
    },
  );

  test("any value comes back", () => {
    fc.assert(
      fc.property(fc.jsonValue({ stringUnit: "binary", depthSize: "xsmall" }), (value) => {
        const text = JSON.stringify(value);
        expect(JSON.stringify(parseJson(text))).toBe(text);
      }),
    );
  });

  test("nesting and length are no matter", () => {
    const depth = 50_000;
    let value = parseJson<Record<string, unknown>>(`${'{"\\n":'.repeat(depth)}0${"}".repeat(depth)}`);
    for (let level = 1; level < depth; level++) value = value["\n"] as Record<string, unknown>;
    expect(value).toEqual({ "\n": 0 });
    const long = { "\n": 'tab\t" \\'.repeat(200_000) };
    expect(parseJson(JSON.stringify(long))).toStrictEqual(long);
  });

  test("hostile text takes no more than linear time", () => {
    const many = `{${Array.from({ length: 20_000 }, (_, n) => `"k${n}":0,"\\u0061${n}":0`).join(",")}}`;
    const quotes = `{"\\n":"${'\\"'.repeat(500_000)}","${"\\\\".repeat(500_000)}":0}`;
    const before = performance.now();
    expect(Object.keys(parseJson<object>(many))).toHaveLength(40_000);
    expect(Object.keys(parseJson<object>(quotes))).toHaveLength(2);
    expect(performance.now() - before).toBeLessThan(5000);
  });

  function thrownBy(action: () => unknown): unknown {
    try {
      return action();
    } catch (error) {
      return error;
    }
  }
});
