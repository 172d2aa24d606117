import { describeLoss } from "./describe-loss.ts";

describeLoss("mysql", "failover");
describeLoss("mysql", "restored backup");
