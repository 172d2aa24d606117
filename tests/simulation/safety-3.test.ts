import { describeSeeds } from "./describe-seeds.ts";

describeSeeds("safety", 2001, 1000);
