import { describeSeeds } from "./describe-seeds.ts";

describeSeeds("liveness", 1, 500);
