/** The stories of one store and one way to lose the last writes. */
import { afterAll, beforeAll, describe, test } from "vitest";
import type { StoreKind } from "../chaos/open-store.ts";
import { storeNames, whyNoSite } from "../chaos/site.ts";
import { appStories, restartStory } from "./app-stories.ts";
import { Rewind, type Way } from "./rewind.ts";
import { storeStories } from "./store-stories.ts";
import type { Story } from "./story.ts";

const startMs = 90_000;

export function describeLoss(kind: StoreKind, way: Way): void {
  const stops = kind === "sqlite";
  const stories = [...storeStories, ...(stops ? [] : appStories), restartStory];
  const title = `${way} of ${storeNames[kind]} that loses the last writes`;
  const reason = whyNoSite(kind);
  const mustRun = process.env.CI === "true";
  if (reason) console.warn(`${mustRun ? "MISSING" : "SKIPPED"}: ${title}, because ${reason}`);
  describe.skipIf(reason !== undefined && !mustRun)(title, () => {
    let rewind: Rewind;
    const told = new Map<Story, AsyncGenerator<void, void, void>>();

    beforeAll(async () => {
      rewind = await Rewind.open(kind, way);
      for (const [at, story] of stories.entries()) {
        const namespace = `story${at}`;
        const [a, b] = [await rewind.openHandle(namespace), await rewind.openHandle(namespace)];
        await a.store.migrate();
        told.set(story, story.tell({ namespace, a, b, stops }));
      }
      for (const telling of told.values()) await telling.next();
      await rewind.keep();
      for (const telling of told.values()) await telling.next();
      await rewind.goBack();
    }, startMs);

    afterAll(() => rewind?.close(), startMs);

    for (const story of stories) {
      test(story.name, async () => {
        await told.get(story)?.next();
      });
    }
  });
}
