/** Whole apps that go on working while their data goes back in time. */
import { expect } from "vitest";
import { auditRecords } from "../chaos/audit/records.ts";
import { Book, openTrips, sign, type TripApp, type TripOutput, Watched } from "./app-cast.ts";
import type { Cast, Story } from "./story.ts";

async function statusOf(app: TripApp, id: string): Promise<string> {
  return (await (await app.workflows.TRIP.get(id)).details()).status;
}

/** What is recorded, step by step, is what the instance gave. */
async function expectRecorded(app: TripApp, id: string): Promise<TripOutput> {
  const trip = await app.workflows.TRIP.get(id);
  const { status, output } = await trip.result({ timeout: "30 seconds" });
  expect(status).toBe("complete");
  const { steps } = await trip.history();
  const results = steps.filter(({ type }) => type === "do").map(({ name, result }) => [name, result]);
  expect(Object.fromEntries(results)).toEqual(output);
  return output as TripOutput;
}

async function stop(...apps: readonly TripApp[]): Promise<void> {
  for (const app of apps) await app.stop({ grace: 0 });
}

/** A takes one instance at a time, and what becomes of its commits is seen. */
function openTwo({ a, b }: Cast) {
  const book = new Book();
  const watched = new Watched(a.store);
  const appA = openTrips(watched.store, { who: "A", book, concurrency: 1 });
  return { book, watched, appA, appB: openTrips(b.store, { who: "B", book }) };
}

export const appStories: readonly Story[] = [
  {
    name: "a runner whose claim was lost starts no further body, and gives the result that is in the store",
    async *tell(cast) {
      const { book, watched, appA, appB } = openTwo(cast);
      const trip = await appB.workflows.TRIP.create({ id: "x" });
      yield;
      book.hold("A x one");
      await appA.start();
      await book.until("A x one");
      const result = (await appA.workflows.TRIP.get("x")).result();
      yield;
      await appB.start();
      const { output } = await trip.result({ timeout: "30 seconds" });
      expect(output).toEqual({ one: "B x one 2", two: "B x two 3", three: "B x three 4" });
      book.letGo("A x one");
      await sign("the commit of A is answered", () => watched.outcomes.length > 0 || undefined);
      expect((await result).output).toEqual(output);
      // It goes on with others' work, and comes to none of what it would have done next.
      await appB.stop();
      await appA.workflows.TRIP.create({ id: "next" });
      await expectRecorded(appA, "next");
      expect(watched.outcomes[0]).toBe("superseded");
      expect(book.begins.filter((each) => each.includes(" x "))).toEqual([
        "A x one",
        "B x one",
        "B x two",
        "B x three",
      ]);
      await expectRecorded(appA, "x");
      expect(await auditRecords(appA)).toEqual([]);
      await stop(appA);
    },
  },
  {
    name: "a runner whose claim was lost while another works: each body of the other runs once, none of the first's counts",
    async *tell(cast) {
      const { book, watched, appA, appB } = openTwo(cast);
      await appB.workflows.TRIP.create({ id: "x" });
      yield;
      book.hold("A x two");
      await appA.start();
      await book.until("A x two");
      yield;
      book.hold("B x two");
      await appB.start();
      await book.until("B x two");
      // Both have begun "two"; the commit that says so has the same number.
      const before = watched.outcomes.length;
      book.letGo("A x two");
      await sign("the commit of A is answered", () => watched.outcomes.length > before || undefined);
      expect(watched.outcomes.slice(before)).toEqual(["superseded"]);
      // So that it takes no later part of the run, which it may.
      await appA.stop();
      book.letGo("B x two");
      const output = await expectRecorded(appB, "x");
      expect(Object.values(output).every((word) => word.startsWith("B "))).toBe(true);
      expect(book.beginsOf("A x three")).toBe(0);
      for (const step of ["one", "two", "three"]) expect(book.beginsOf(`B x ${step}`)).toBe(1);
      expect(await auditRecords(appB)).toEqual([]);
      await stop(appB);
    },
  },
  {
    name: "a creation that was lost: its runner touches no instance that was created afterwards, and may create it again",
    async *tell(cast) {
      const { book, watched, appA, appB } = openTwo(cast);
      watched.seesNoLoss = true;
      yield;
      book.hold("A x one");
      await appA.start();
      await appA.workflows.TRIP.create({ id: "x" });
      await book.until("A x one");
      yield;
      book.hold("B y one");
      await appB.start();
      await appB.workflows.TRIP.create({ id: "y" });
      await book.until("B y one");
      book.letGo("A x one");
      await sign("the commit of A is answered", () => watched.outcomes.length > 0 || undefined);
      expect(watched.outcomes).toEqual(["superseded"]);
      await expect(appA.workflows.TRIP.get("x")).rejects.toMatchObject({ code: "INSTANCE_NOT_FOUND" });
      expect(await statusOf(appA, "y")).toBe("active");
      book.letGo("B y one");
      expect(await expectRecorded(appB, "y")).toMatchObject({ one: expect.stringContaining("B y one") });
      await appA.workflows.TRIP.create({ id: "x" });
      await expectRecorded(appA, "x");
      expect(book.begins.filter((each) => each.endsWith("x one"))).toHaveLength(2);
      expect(await auditRecords(appA)).toEqual([]);
      await stop(appA, appB);
    },
  },
  {
    name: "a turn in memory whose last commits were lost is not continued: what the store has not is done again",
    async *tell({ a, b }) {
      const book = new Book();
      const watched = new Watched(a.store);
      const app = openTrips(watched.store, { who: "A", book });
      const observer = openTrips(b.store, { who: "nobody", book });
      book.hold("A x two");
      await app.start();
      await app.workflows.TRIP.create({ id: "x", params: { waits: true } });
      await book.until("A x two");
      yield;
      book.letGo("A x two");
      const isWaiting = async () => (await statusOf(observer, "x")) === "waiting" || undefined;
      await sign("x waits", isWaiting);
      yield;
      // The lease that A has let go of is in force again; nobody will renew it.
      await b.store.write([{ kind: "abandon", owner: watched.owner, fate: { kind: "expire" } }], Date.now());
      await book.until("A x two", 2);
      await sign("x waits again", isWaiting);
      await (await observer.workflows.TRIP.get("x")).sendEvent({ type: "go" });
      const { one, two } = await expectRecorded(observer, "x");
      expect([one, two]).toEqual(["A x one 1", "A x two 3"]);
      expect(await auditRecords(observer)).toEqual([]);
      await stop(app, observer);
    },
  },
];

/** For files too, whose processes stop before the file is replaced. */
export const restartStory: Story = {
  name: "everything that is there goes on and ends, what was created since can be created again, and verify finds nothing",
  async *tell({ a, b, stops }) {
    const book = new Book();
    const open = (): TripApp => openTrips(a.store, { who: "A", book, leaseMs: 1500 });
    let app = open();
    await app.start();
    const ids = Array.from({ length: 12 }, (_, at) => `kept-${at}`);
    for (const id of ids) await app.workflows.TRIP.create({ id, params: { waits: id.length % 2 === 0 } });
    await sign("some have ended", async () => (await app.counts("trip")).complete > 0 || undefined);
    yield;
    const endAll = async (): Promise<void> => {
      for (const id of ids) {
        const trip = await app.workflows.TRIP.get(id);
        if ((await trip.details()).status !== "complete") await trip.sendEvent({ type: "go" });
      }
      for (const id of ids) await expectRecorded(app, id);
    };
    await endAll();
    await app.workflows.TRIP.create({ id: "lost" });
    await expectRecorded(app, "lost");
    if (stops) await app.stop();
    yield;
    if (stops) {
      app = open();
      await app.start();
    }
    await endAll();
    await expect(app.workflows.TRIP.get("lost")).rejects.toMatchObject({ code: "INSTANCE_NOT_FOUND" });
    await app.workflows.TRIP.create({ id: "lost" });
    await expectRecorded(app, "lost");
    expect(await auditRecords(app)).toEqual([]);
    expect(await b.store.countByStatus("trip")).toMatchObject({
      complete: ids.length + 1,
      active: 0,
      waiting: 0,
    });
    await app.stop();
  },
};
