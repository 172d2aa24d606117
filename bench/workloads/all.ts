/** In the order in which they run. */
import type { Workload } from "../workload.ts";
import { cost } from "./cost.ts";
import { events } from "./events.ts";
import { idleRunner } from "./idle.ts";
import { latency } from "./latency.ts";
import { limits } from "./limits.ts";
import { linear } from "./linear.ts";
import { longWorkflow } from "./long.ts";
import { nudges } from "./nudges.ts";
import { parked } from "./parked.ts";
import { payloads } from "./payloads.ts";
import { resume } from "./resume.ts";
import { runners } from "./runners.ts";
import { storm } from "./storm.ts";
import { throughput } from "./throughput.ts";
import { timers } from "./timers.ts";

export const ownWorkloads: readonly Workload[] = [
  limits,
  throughput,
  latency,
  cost,
  timers,
  storm,
  events,
  longWorkflow,
  linear,
  resume,
  payloads,
  nudges,
  runners,
  idleRunner,
  parked,
];
