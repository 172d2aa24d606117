import { describeLoss } from "./describe-loss.ts";

describeLoss("sqlite", "restored backup");
