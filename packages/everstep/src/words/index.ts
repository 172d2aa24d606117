/** What the command line and the dashboard say of the same things, so that both say it alike. */
export { type Frame, framesOf, ownFrame } from "./frames.ts";
export { type Distance, distanceOf, spokenDuration, type TimeUnit } from "./time.ts";
export { awaited, headed, type KnownWait, type WaitKind, waitKindOf, waitWords, whenOver } from "./waits.ts";
