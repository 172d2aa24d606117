import { describeSeeds } from "./describe-seeds.ts";

// What a world needs on these costs more than on the reference store, so they are fewer here; `npm run simulate` has more.
describeSeeds("safety", 1, 120, { store: "sql" });
describeSeeds("liveness", 1, 60, { store: "sql" });
describeSeeds("safety", 1, 120, { store: "sql-quick" });
describeSeeds("liveness", 1, 60, { store: "sql-quick" });
describeSeeds("safety", 1, 40, { store: "sqlite" });
