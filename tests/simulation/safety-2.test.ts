import { describeSeeds } from "./describe-seeds.ts";

describeSeeds("safety", 1001, 1000);
