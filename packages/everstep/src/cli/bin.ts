#!/usr/bin/env node
/** The bin: says which Node is needed before anything is loaded that an older one cannot read. */
import { oldNode } from "./needed-node.ts";

const problem = oldNode(process.versions.node);
if (problem === null) {
  void import("./main.ts").then(({ main }) => main());
} else {
  console.error(problem);
  process.exitCode = 70;
}
