import { beforeEach, describe, expect, test } from "vitest";
import { createFakeRuntime, type FakeRuntime } from "../../../testing/fake-runtime.ts";
import type { ExitCode } from "../../command.ts";
import type { Child, ChildListener, ChildState, Ending } from "./child.ts";
import type { Order, Report } from "./messages.ts";
import { type Narrator, Supervisor } from "./supervisor.ts";

const problem = { place: null, message: "no good", advice: null };
const loaded: Report = { kind: "loaded", files: ["/p/a.ts"] };
const listening: Report = {
  kind: "listening",
  url: "http://127.0.0.1:4610/",
  port: 4610,
  takesToken: true,
};
const serving: Report = { kind: "serving" };
const failed: Report = { kind: "failed", files: ["/p/a.ts"], problem };

/** A child in the test's hands. */
class Puppet implements Child {
  state: ChildState = "loading";
  readonly pid = 1;
  readonly startedAt = 0;
  readonly orders: Order[] = [];
  isKilled = false;
  readonly #listener: ChildListener;

  constructor(listener: ChildListener) {
    this.#listener = listener;
  }

  order(order: Order): void {
    this.orders.push(order);
  }

  kill(): void {
    this.isKilled = true;
  }

  report(...reports: readonly Report[]): void {
    for (const report of reports) this.#listener.onReport(this, report);
  }

  end(ending: Ending = { exitCode: 0, signal: null }): void {
    this.#listener.onGone(this, ending);
    this.state = "gone";
  }

  get asked(): string {
    const words = this.orders.map((order) => (order.kind === "start" ? `start (${order.why})` : order.kind));
    return words.join(", ");
  }
}

const killed: Ending = { exitCode: null, signal: "SIGKILL" };

let runtime: FakeRuntime;
let children: Puppet[];
let said: string[];
let exitCode: ExitCode | undefined;
let ordersWhenListening: string[];

beforeEach(() => {
  runtime = createFakeRuntime();
  children = [];
  said = [];
  exitCode = undefined;
  ordersWhenListening = [];
});

function supervise(options: { readonly watches?: boolean } = {}): Supervisor {
  const narrator: Narrator = {
    changed: () => said.push("changed"),
    notLoaded: (_, whatNow) => said.push(`not loaded, ${whatNow}`),
    endedWhileLoading: (_, whatNow) => said.push(`ended while loading, ${whatNow}`),
    refused: (message) => said.push(`refused: ${message}`),
    died: (_, delayMs) => said.push(`died, again in ${delayMs}`),
    loadsSlowly: () => said.push("loads slowly"),
    hangs: () => said.push("hangs"),
  };
  const supervisor = new Supervisor({
    spawn: (listener) => {
      const child = new Puppet(listener);
      children.push(child);
      return child;
    },
    runtime,
    narrator,
    watch: options.watches === false ? null : { add: () => {} },
    ports: [4610, 4611],
    graceMs: 5000,
    token: "of-this-start",
    onListening: () => ordersWhenListening.push(children.at(-1)!.asked),
  });
  void supervisor.run().then((code) => {
    exitCode = code;
  });
  return supervisor;
}

function supervised(): { readonly supervisor: Supervisor; readonly first: Puppet } {
  const supervisor = supervise();
  const first = children[0]!;
  first.report(loaded, listening, serving);
  return { supervisor, first };
}

describe("new code", () => {
  test("begins only when the process with the old code is gone", () => {
    const { supervisor, first } = supervised();
    supervisor.changed(["/p/a.ts"]);
    const second = children[1]!;
    expect(first.asked).toBe("start (first), run");
    second.report(loaded);
    expect(first.asked).toBe("start (first), run, stop");
    expect(second.asked).toBe("");
    first.end();
    expect(second.asked).toBe("start (changed)");
    expect(second.orders).toEqual([{ kind: "start", ports: [4610], why: "changed", token: "of-this-start" }]);
  });

  test("that cannot be loaded leaves the old one alone", () => {
    const { supervisor, first } = supervised();
    supervisor.changed(["/p/a.ts"]);
    children[1]!.report(failed);
    children[1]!.end({ exitCode: 70, signal: null });
    expect(said).toEqual(["changed", "not loaded, old-serves"]);
    expect(first.asked).toBe("start (first), run");
    supervisor.changed(["/p/a.ts"]);
    children[2]!.report(loaded);
    first.end();
    expect(children[2]!.asked).toBe("start (changed)");
  });

  test("that ends its process while it is loaded leaves the old one alone", () => {
    const { supervisor, first } = supervised();
    supervisor.changed(["/p/a.ts"]);
    children[1]!.end({ exitCode: 3, signal: null });
    expect(said).toEqual(["changed", "ended while loading, old-serves"]);
    expect(first.isKilled).toBe(false);
  });

  test("that is changed again while it loads is given up for what is newest", () => {
    const { supervisor, first } = supervised();
    supervisor.changed(["/p/a.ts"]);
    supervisor.changed(["/p/a.ts"]);
    expect(children[1]!.isKilled).toBe(true);
    children[1]!.report(loaded);
    expect(first.asked).toBe("start (first), run");
    children[2]!.report(loaded);
    expect(first.asked).toBe("start (first), run, stop");
  });

  test("that is changed again while it begins is stopped in good order first, even if it never comes to serve", () => {
    const { supervisor, first } = supervised();
    supervisor.changed(["/p/a.ts"]);
    children[1]!.report(loaded);
    first.end();
    supervisor.changed(["/p/a.ts"]);
    children[2]!.report(loaded);
    expect(children[1]!.asked).toBe("start (changed), stop");
    expect(children[1]!.isKilled).toBe(false);
    expect(children[2]!.asked).toBe("");
    children[1]!.report(serving);
    children[1]!.end();
    expect(children[2]!.asked).toBe("start (changed)");
  });

  test("that cannot be loaded leaves one alone that has only begun to start", () => {
    const supervisor = supervise();
    const first = children[0]!;
    first.report(loaded, listening);
    supervisor.changed(["/p/a.ts"]);
    children[1]!.report(failed);
    children[1]!.end({ exitCode: 70, signal: null });
    first.report(serving);
    expect(first.asked).toBe("start (first), run");
    expect(said).toEqual(["changed", "not loaded, old-serves"]);
  });

  test("that is changed to a mistake while the old code stops begins all the same", () => {
    const { supervisor, first } = supervised();
    supervisor.changed(["/p/a.ts"]);
    children[1]!.report(loaded);
    supervisor.changed(["/p/a.ts"]);
    children[2]!.report(failed);
    expect(said.at(-1)).toBe("not loaded, old-serves");
    expect(children[1]!.isKilled).toBe(false);
    first.end();
    expect(children[1]!.asked).toBe("start (changed)");
  });

  test("that is changed to something better while the old code stops is given up for it", () => {
    const { supervisor, first } = supervised();
    supervisor.changed(["/p/a.ts"]);
    children[1]!.report(loaded);
    supervisor.changed(["/p/a.ts"]);
    children[2]!.report(loaded);
    expect(children[1]!.isKilled).toBe(true);
    children[1]!.end(killed);
    first.end();
    expect([children[1]!.asked, children[2]!.asked]).toEqual(["", "start (changed)"]);
    expect(said).toEqual(["changed", "changed"]);
  });

  test("that dies before the old code is gone is loaded again", () => {
    const { supervisor, first } = supervised();
    supervisor.changed(["/p/a.ts"]);
    children[1]!.report(loaded);
    children[1]!.end(killed);
    first.end();
    children[2]!.report(loaded);
    expect(children[2]!.asked).toBe("start (changed)");
  });

  test("that takes long to load is spoken of", async () => {
    supervise();
    await runtime.advance("10 seconds");
    expect(said).toEqual(["loads slowly"]);
  });
});

test("the address is written down before the process runs and tells it", () => {
  const { first } = supervised();
  expect(ordersWhenListening).toEqual(["start (first)"]);
  expect(first.asked).toBe("start (first), run");
});

test("an old process that does not end by itself is killed after its grace", async () => {
  const { supervisor, first } = supervised();
  supervisor.changed(["/p/a.ts"]);
  children[1]!.report(loaded);
  await runtime.advance("7 seconds");
  expect(first.isKilled).toBe(false);
  await runtime.advance("1 second");
  expect(first.isKilled).toBe(true);
  first.end(killed);
  expect(children[1]!.asked).toBe("start (changed)");
  expect(said).toEqual(["changed", "hangs"]);
});

describe("a process that died", () => {
  test("is followed at once by one that is told so", () => {
    const { first } = supervised();
    first.end(killed);
    children[1]!.report(loaded);
    expect(children[1]!.asked).toBe("start (died)");
    expect(said).toEqual(["died, again in 0"]);
  });

  test("is followed later and later when it keeps dying, until the file changes", async () => {
    const { supervisor, first } = supervised();
    first.end(killed);
    children[1]!.report(loaded, listening, serving);
    children[1]!.end(killed);
    children[2]!.report(loaded, listening, serving);
    children[2]!.end(killed);
    expect(said).toEqual(["died, again in 0", "died, again in 0", "died, again in 1000"]);
    expect(children).toHaveLength(3);
    await runtime.advance("1 second");
    children[3]!.report(loaded, listening, serving);
    children[3]!.end(killed);
    expect(said.at(-1)).toBe("died, again in 2000");
    supervisor.changed(["/p/a.ts"]);
    expect(children).toHaveLength(5);
    children[4]!.report(loaded, listening, serving);
    children[4]!.end(killed);
    expect(said.at(-1)).toBe("died, again in 0");
  });

  test("after a long life is followed at once, however often others died before", async () => {
    const { first } = supervised();
    first.end(killed);
    children[1]!.report(loaded, listening, serving);
    children[1]!.end(killed);
    children[2]!.report(loaded, listening, serving);
    await runtime.advance("1 minute");
    children[2]!.end(killed);
    expect(said.at(-1)).toBe("died, again in 0");
  });

  test("while new code loads is followed by the new code", () => {
    const { supervisor, first } = supervised();
    supervisor.changed(["/p/a.ts"]);
    first.end(killed);
    expect(children).toHaveLength(2);
    children[1]!.report(loaded);
    expect(children[1]!.asked).toBe("start (died)");
  });
});

describe("what cannot be loaded at first", () => {
  test("waits for a change", () => {
    const supervisor = supervise();
    children[0]!.report(failed);
    children[0]!.end({ exitCode: 70, signal: null });
    expect(said).toEqual(["not loaded, waits"]);
    supervisor.changed(["/p/a.ts"]);
    children[1]!.report(loaded);
    expect(children[1]!.asked).toBe("start (first)");
  });

  test("is the end where no change is watched for", async () => {
    supervise({ watches: false });
    children[0]!.report(failed);
    await runtime.settle();
    expect(exitCode).toBe(70);
  });
});

test("a port that is taken is the end, whatever is watched for", async () => {
  supervise();
  children[0]!.report(loaded, { kind: "refused", message: "taken", isFinal: true });
  await runtime.settle();
  expect(said).toEqual(["refused: taken"]);
  expect(exitCode).toBe(70);
});

describe("stopping", () => {
  test("lets the process that serves end gracefully, and is done when it is gone", async () => {
    const { supervisor, first } = supervised();
    supervisor.stop();
    expect(first.asked).toBe("start (first), run, stop");
    await runtime.settle();
    expect(exitCode).toBeUndefined();
    first.end();
    await runtime.settle();
    expect(exitCode).toBe(0);
    expect(runtime.nextTimerAt()).toBeNull();
  });

  test("in the middle of a replacement leaves nobody behind", async () => {
    const { supervisor, first } = supervised();
    supervisor.changed(["/p/a.ts"]);
    children[1]!.report(loaded);
    supervisor.stop();
    expect(children[1]!.isKilled).toBe(true);
    children[1]!.end(killed);
    first.end();
    await runtime.settle();
    expect(exitCode).toBe(0);
    expect(children).toHaveLength(2);
  });

  test("while it waits to start again is done at once", async () => {
    const { supervisor, first } = supervised();
    first.end(killed);
    children[1]!.report(loaded, listening, serving);
    children[1]!.end(killed);
    children[2]!.report(loaded, listening, serving);
    children[2]!.end(killed);
    supervisor.stop();
    await runtime.settle();
    expect(exitCode).toBe(0);
    expect(runtime.nextTimerAt()).toBeNull();
  });
});
