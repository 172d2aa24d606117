/** Streams of an app whose clock is in the test's hands. */
import { allowAll } from "everstep";
import { expect } from "vitest";
import type { Schema } from "../../../packages/everstep/src/wire/schema.ts";
import type { Json } from "./checked-answer.ts";
import { EventReader } from "./event-reader.ts";
import { createWatched } from "./watched-app.ts";

export function beginStreaming(http = {}) {
  const watched = createWatched({ authorize: allowAll(), http });
  const { app } = watched;
  return {
    ...watched,
    async open(path: string, headers: Record<string, string> = {}): Promise<EventReader> {
      const all = { accept: "text/event-stream", ...headers };
      return new EventReader(await app.fetch(new Request(`http://localhost${path}`, { headers: all })));
    },
  };
}

export function expectToFit(schema: Schema<unknown>, value: Json): void {
  const issues: { path: string; message: string }[] = [];
  schema.read(value, "", issues);
  expect(issues).toEqual([]);
}
