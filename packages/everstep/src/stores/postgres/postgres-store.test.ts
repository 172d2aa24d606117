import { afterAll, describe, it } from "vitest";
import { ownRows, postgresPlace, postgresUrl } from "../../../../../tests/support/postgres-place.ts";
import { describeStore } from "../../testing/store-contract/index.ts";

describe.skipIf(postgresUrl === undefined)("PostgreSQL (set EVERSTEP_POSTGRES_URL to run these)", () => {
  const place = postgresPlace();
  afterAll(() => place.clear(), 60_000);

  describeStore(
    {
      name: "postgres",
      open: () => place.open(),
      reopen: (store) => place.reopen(store),
      ...ownRows(place),
    },
    { describe, it },
  );
});
