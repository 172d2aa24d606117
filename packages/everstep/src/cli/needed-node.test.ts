import { expect, test } from "vitest";
import manifest from "../../package.json" with { type: "json" };
import { neededNode, oldNode } from "./needed-node.ts";

test.each(["18.20.4", "20.20.2", "22.17.9", "4.2.0"])("Node %s is told which Node is needed", (version) => {
  expect(oldNode(version)).toMatch(
    new RegExp(`^error: everstep needs Node 22\\.18 or newer, and this is Node ${version}\\.\\nInstall`),
  );
});

test.each(["22.18.0", "22.20.1", "24.0.0"])("Node %s is new enough", (version) => {
  expect(oldNode(version)).toBeNull();
});

test("it is the one that the package names", () => {
  expect(manifest.engines.node).toBe(`>=${neededNode}`);
});
