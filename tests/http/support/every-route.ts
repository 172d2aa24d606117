import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { routes } from "../../../packages/everstep/src/http/routes/index.ts";
import { creating } from "../routes/creating.ts";
import { events } from "../routes/events.ts";
import { history } from "../routes/history.ts";
import { looking } from "../routes/looking.ts";
import { missing } from "../routes/missing.ts";
import { overview } from "../routes/overview.ts";
import { pages } from "../routes/pages.ts";
import { repeats } from "../routes/repeats.ts";
import { requests } from "../routes/requests.ts";
import { service } from "../routes/service.ts";
import { steering } from "../routes/steering.ts";
import { texts } from "../routes/texts.ts";
import { why } from "../routes/why.ts";
import type { Data, StoreUnderTest } from "./stores.ts";
import { beginWorld, type World } from "./world.ts";

const topics = [
  creating,
  looking,
  missing,
  steering,
  repeats,
  events,
  history,
  overview,
  pages,
  why,
  service,
  requests,
  texts,
];

/** What takes another app, another store or another host; and where that is tested. */
const elsewhere: Readonly<Record<string, string>> = {
  "tick RUNNER_TICK_DISABLED": "tests/http/authorization.test.ts",
  "tick RUNNER_NOT_AVAILABLE": "packages/everstep/src/fragment/create-workflows-fragment.test.ts",
  "kill ROUTE_NOT_FOUND": "tests/http/kill.test.ts",
  "health 503": "tests/http/failures.test.ts",
  "ready 503": "tests/http/failures.test.ts",
};

/** Every route over a listening server: what it answers, and every code it can answer with. One server per store. */
export function describeEveryRoute(store: StoreUnderTest): void {
  describe.skipIf(store.isMissing)(`over HTTP (${store.name})`, () => {
    let data: Data;
    let world: World;
    beforeAll(async () => {
      data = store.begin();
      world = await beginWorld(data);
    });
    afterAll(async () => {
      await world?.end();
      await data?.end();
    });
    for (const register of topics) register(() => world);

    test("every route was asked, and has given every answer it can give", () => {
      const all = routes.flatMap(({ action, answer, codes }) =>
        [answer.status, ...(answer.also ?? []), ...codes].map((each) => `${action} ${each}`),
      );
      expect(all.filter((each) => !world.seen.has(each) && !Object.hasOwn(elsewhere, each))).toEqual([]);
    });
  });
}
