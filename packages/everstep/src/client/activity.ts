import { EverstepError } from "../model/error.ts";
import { checkNames } from "../model/known-names.ts";
import type { MinuteTally } from "../store/store.ts";
import { tallyMinutesMax } from "../store/tally-span.ts";
import type { ActivityBucket, ActivityView } from "../wire/index.ts";
import { activityNames } from "../wire/option-names.ts";
import type { ActivityOptions } from "../wire/options.ts";
import type { AppParts } from "./app-parts.ts";

const bucketsMax = 120;
const minuteMs = 60_000;

export async function readActivity(options: ActivityOptions, parts: AppParts): Promise<ActivityView> {
  checkNames(options, activityNames, "activity");
  const { minutes = 60, workflowName } = options;
  checkMinutes(minutes);
  await parts.ready();
  const { from, to, bucketMs, count } = bucketsUntil(parts.runtime.now(), minutes);
  const query = { from, to, ...(workflowName === undefined ? {} : { workflowName }) };
  const tallies = await parts.reads.readTallies(query);
  const buckets = Array.from({ length: count }, (_unused, n) => emptyBucket(from + n * bucketMs));
  // The store hears of it now and then; what was done here is known at once.
  const untold = parts.runner.untold.filter(
    (tally) => workflowName === undefined || tally.workflowName === workflowName,
  );
  for (const tally of [...tallies, ...untold]) {
    add(buckets[Math.floor((tally.minute - from) / bucketMs)], tally);
  }
  return { from: new Date(from), to: new Date(to), bucketMs, buckets };
}

/** They begin at full multiples of their length, so that what was seen in one stays there. */
function bucketsUntil(now: number, minutes: number) {
  const bucketMs = Math.ceil(minutes / bucketsMax) * minuteMs;
  const count = Math.ceil((minutes * minuteMs) / bucketMs);
  const to = (Math.floor(now / bucketMs) + 1) * bucketMs;
  return { from: to - count * bucketMs, to, bucketMs, count };
}

type OpenBucket = { -readonly [Field in keyof ActivityBucket]: ActivityBucket[Field] };

function emptyBucket(at: number): OpenBucket {
  return { at: new Date(at), complete: 0, errored: 0, terminated: 0, steps: 0, failedAttempts: 0 };
}

function add(bucket: OpenBucket | undefined, tally: MinuteTally): void {
  if (bucket === undefined) return;
  bucket.complete += tally.complete;
  bucket.errored += tally.errored;
  bucket.terminated += tally.terminated;
  bucket.steps += tally.steps;
  bucket.failedAttempts += tally.failedAttempts;
}

function checkMinutes(minutes: number): void {
  if (Number.isInteger(minutes) && minutes >= 1 && minutes <= tallyMinutesMax) return;
  throw new EverstepError(
    "INVALID_ARGUMENT",
    `minutes is ${String(minutes)}; it must be a whole number from 1 to ${tallyMinutesMax}, which is a week.`,
  );
}
