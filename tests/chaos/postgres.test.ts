import { describeChaos } from "./describe-chaos.ts";

describeChaos("postgres");
