import { describeSeeds } from "./describe-seeds.ts";

describeSeeds("liveness", 501, 500);
