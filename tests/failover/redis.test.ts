import { describeLoss } from "./describe-loss.ts";

describeLoss("redis", "failover");
describeLoss("redis", "restored backup");
