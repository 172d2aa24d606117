import { Beats } from "./beats.ts";
import { Capacity } from "./capacity.ts";
import { Claimer } from "./claimer.ts";
import { LateWakes } from "./late-wakes.ts";
import { Leases } from "./leases.ts";
import { LoopWatch } from "./loop-watch.ts";
import { OwnerWatch } from "./owner-watch.ts";
import { PollDispatcher } from "./poll-dispatcher.ts";
import { pollOptionsOf } from "./poll-options.ts";
import { Residents } from "./residents.ts";
import { RunnerHost } from "./runner-host.ts";
import type { RunnerSetup } from "./runner-setup.ts";
import { Ticks } from "./ticks.ts";
import { TurnMemory } from "./turn-memory.ts";
import { Turns } from "./turns.ts";

/** The parts of one runner. Each owns its state, and says in its constructor which of the others it uses. */
export class RunnerParts {
  readonly setup: RunnerSetup;
  readonly owner: string;
  /** When to look for due runs. */
  readonly dispatcher: PollDispatcher;
  readonly leases: Leases;
  /** Suspended turns in memory. */
  readonly residents: Residents;
  readonly memory: TurnMemory;
  readonly loop: LoopWatch;
  readonly wakes: LateWakes;
  readonly beats: Beats;
  readonly owners: OwnerWatch;
  readonly capacity: Capacity;
  readonly turns: Turns;
  readonly host: RunnerHost;
  readonly claimer: Claimer;
  readonly ticks: Ticks;

  constructor(setup: RunnerSetup) {
    const { store, runtime, options, definitions } = setup;
    const { leaseMs, maxMemoryBytes, concurrency, ifInterrupted } = options;
    const owner = runtime.uuid();
    const onDue = (): void => this.dispatcher.nudge();
    this.setup = setup;
    this.owner = owner;
    this.dispatcher = new PollDispatcher(runtime, pollOptionsOf(options, store, setup.nudges), () =>
      this.ticks.sweep(),
    );
    this.leases = new Leases(setup, owner);
    const { outages, returned } = this.leases;
    this.residents = new Residents(runtime, options.maxResidents, maxMemoryBytes / 2);
    this.memory = new TurnMemory(maxMemoryBytes);
    const { residents, memory } = this;
    this.loop = new LoopWatch({
      ...{ runtime, leaseMs, observer: setup.observers.all },
      turns: () => this.turns.all,
      onStill: () => outages.stoodStill(),
    });
    this.wakes = new LateWakes({ ...setup, residents, onDue });
    this.beats = new Beats({
      ...{ store, runtime, owner, concurrency },
      workflows: [...definitions.keys()].filter((name) => name !== setup.ownWorkflow),
      ...(setup.ownWorkflow === undefined ? {} : { ownWorkflow: setup.ownWorkflow }),
      turns: () => this.turns.size,
    });
    if (store.beat) setup.observers.add(this.beats);
    this.owners = new OwnerWatch({
      ...{ ...setup, owner, ifInterrupted, leaseMs },
      everyMs: options.minPollMs,
      onFound: onDue,
    });
    this.capacity = new Capacity(this);
    this.turns = new Turns(this);
    this.host = new RunnerHost(this);
    this.claimer = new Claimer({
      ...{ ...setup, residents, memory, owner, leaseMs, returned, outages, observer: setup.observers.all },
      suspects: () => this.turns.suspects,
    });
    this.ticks = new Ticks(this);
  }
}
