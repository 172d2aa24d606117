import { describe, expect, test } from "vitest";
import { defineWorkflow } from "../authoring/define-workflow.ts";
import { StoreError } from "../model/error.ts";
import { memory } from "../stores/memory/index.ts";
import { createFaultyStore } from "../testing/faulty-store.ts";
import { createTestHarness } from "../testing/harness.ts";
import { createWorkflows } from "./create-workflows.ts";
import type { VerifyOptions } from "./verify-app.ts";

const nap = defineWorkflow({ name: "nap" }, async (_event, step) => {
  await step.sleep("nap", "1 hour");
});
