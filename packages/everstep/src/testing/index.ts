/** What users and we test with. */
export { createMemoryDatabase, type MemoryDatabase } from "../stores/memory/database.ts";
export { type MemoryOptions, MemoryStore, memory } from "../stores/memory/memory-store.ts";
export {
  createFakeRuntime,
  type FakeRuntime,
  type FakeRuntimeOptions,
  type WaitUntilOptions,
} from "./fake-runtime.ts";
export {
  createFaultyStore,
  type FailOptions,
  type Fault,
  type FaultOptions,
  type FaultRule,
  type FaultyStore,
  type PlannedRule,
  type StopOptions,
  type StoreStop,
  storeFailure,
} from "./faulty-store.ts";
export { createGate, type Gate } from "./gate.ts";
export {
  type AdvanceOptions,
  createTestHarness,
  type RunUntilIdleOptions,
  type TestClock,
  type TestHarness,
  type TestHarnessOptions,
} from "./harness.ts";
export type { HarnessRunner, RunnerStop } from "./harness-runner.ts";
export type { InstanceAddress, RunChoice, WholeHistory } from "./inspector.ts";
export type { StoreCall, StoreMethod, StoreVerb } from "./intercept-store.ts";
export type { EventMock, MockTimes, StepMock, WorkflowMocks } from "./mocks.ts";
export type { Faults as SimulatedFaults } from "./simulate/own/faults.ts";
export type {
  Invariant,
  InvariantContext,
  Invariants,
  SimulatedInstance,
} from "./simulate/own/invariants.ts";
export type {
  ScenarioContext,
  SimulatedClock,
  SimulatedProcess,
  SimulatedRandom,
  SimulatedWorkflows,
  SimulateOptions,
  SimulationProgress,
} from "./simulate/own/options.ts";
export type { SimulationTape } from "./simulate/own/replay-code.ts";
export { SimulationFailed, type SimulationFailure, type SimulationReport } from "./simulate/own/report.ts";
export { simulate } from "./simulate/simulate.ts";
export {
  type AuthorRows,
  type CallerTransactions,
  type Case,
  type CaseContext,
  type CaseGroup,
  describeStore,
  type Need,
  type StoreUnderTest,
  storePromises,
  type TestRunner,
} from "./store-contract/index.ts";
export { type Story, type StoryOptions, type StoryRunner, tell } from "./story.ts";
