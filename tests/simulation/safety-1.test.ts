import { describeSeeds } from "./describe-seeds.ts";

describeSeeds("safety", 1, 1000, { shows: true });
