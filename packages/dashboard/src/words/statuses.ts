export { instanceStatuses as statuses, isTerminal as isEnded } from "everstep/client";
