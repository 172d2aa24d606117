import { afterEach, expect, test, vi } from "vitest";
import { defineWorkflow } from "../authoring/define-workflow.ts";
import { NonRetryableError } from "../authoring/errors.ts";
import { EverstepError } from "../model/error.ts";
import { memory } from "../stores/memory/index.ts";
import { createWorkflows } from "./create-workflows.ts";
import { noticeObserver, problemListener } from "./listeners.ts";

const evil = "\u001b]0;owned\u0007\u001b[2J\r\u009b31m\u202egnp.\u2028\neverstep: all is well";
const steering = /(?!\n)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u;

afterEach(() => {
  vi.restoreAllMocks();
});

test("what a workflow throws is one line of the console, in which nothing steers the terminal", async () => {
  const printed: string[] = [];
  vi.spyOn(console, "warn").mockImplementation((text) => void printed.push(text));
  const failing = defineWorkflow({ name: "failing" }, async (_event, step) => {
    await step.do("work", async () => {
      throw Object.assign(new NonRetryableError(evil), { name: `E${evil}` });
    });
  });
  const app = createWorkflows({ workflows: { failing }, store: memory() });
  await app.workflows.failing.create({ id: "f-1" });
  await app.tick();
  expect(printed.length).toBeGreaterThan(0);
  for (const line of printed) expect([line.includes("\n"), steering.test(line)]).toEqual([false, false]);
  expect(printed.join()).toContain("\\x1b]0;owned");
});

test("a listener of notices gets the same", () => {
  const heard: string[] = [];
  const observer = noticeObserver((notice) => void heard.push(notice));
  observer.onNotice?.({ workflowName: null, instanceId: null, message: `a${evil}` });
  expect(heard[0]).toMatch(/^a\\x1b\]0;owned\\x07.*\\neverstep: all is well$/);
});

test("a problem is printed with its code, place and causes, and can forge no line of its own", () => {
  const printed: string[] = [];
  vi.spyOn(console, "error").mockImplementation((text) => void printed.push(text));
  const cause = new AggregateError([new Error(`refused${evil}`)], "");
  problemListener()(new EverstepError("STORE_UNAVAILABLE", `No store${evil}`, { cause, details: { evil } }));
  const [text = ""] = printed;
  expect(steering.test(text)).toBe(false);
  const lines = text.split("\n");
  expect(lines[0]).toMatch(/^everstep: EverstepError: No store.* \(STORE_UNAVAILABLE\) \{"evil":/);
  expect(lines.filter((line) => /^(?!everstep: EverstepError| {2}caused by | {4}at )/.test(line))).toEqual(
    [],
  );
  expect(lines.filter((line) => line.startsWith("  caused by "))).toHaveLength(2);
});

test("a listener that fails, at once or later, disturbs nobody", async () => {
  const unhandled = vi.fn();
  process.on("unhandledRejection", unhandled);
  const fails = (): never => {
    throw new Error("no network");
  };
  problemListener(fails)(new Error("the store is away"));
  problemListener(async () => fails())(new Error("the store is away"));
  const told = { workflowName: "w", instanceId: "i", message: "a word" };
  noticeObserver((async () => fails()) as () => void).onNotice?.(told);
  await new Promise((resolve) => setTimeout(resolve, 20));
  process.off("unhandledRejection", unhandled);
  expect(unhandled).not.toHaveBeenCalled();
});

test("a problem that comes again at once is a line without its stack", () => {
  const lines: string[] = [];
  vi.spyOn(console, "error").mockImplementation((line) => void lines.push(line));
  const tell = problemListener();
  for (const message of ["no store", "no store", "another", "no store"]) tell(new Error(message));
  expect(lines.map((line) => line.includes("    at "))).toEqual([true, false, true, true]);
  expect(lines[1]).toBe("everstep: Error: no store (again)");
});
