import { describeLoss } from "./describe-loss.ts";

describeLoss("postgres", "failover");
describeLoss("postgres", "restored backup");
