import { describeChosen } from "./describe-seeds.ts";

// What a world needs on these costs more than on the reference store, so they are few and chosen; `npm run simulate` has more.
describeChosen("safety", "sql", { shows: true });
describeChosen("liveness", "sql");
describeChosen("safety", "sql-quick", { shows: true });
describeChosen("liveness", "sql-quick");
describeChosen("safety", "sqlite", { count: 30 });
