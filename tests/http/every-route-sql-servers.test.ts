import { describeEveryRoute } from "./support/every-route.ts";
import { storesUnderTest } from "./support/stores.ts";

for (const store of storesUnderTest)
  if (["postgres", "mysql"].includes(store.name)) describeEveryRoute(store);
