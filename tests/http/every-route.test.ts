import { describeEveryRoute } from "./support/every-route.ts";
import { storesUnderTest } from "./support/stores.ts";

// The slower ones are in a file of their own, so that both are at it at the same time.
for (const store of storesUnderTest)
  if (!["postgres", "mysql"].includes(store.name)) describeEveryRoute(store);
