/** Once a step has come to its end, nothing is recorded inside it any more (INV-20). */
import type { Finding } from "../../../packages/everstep/src/testing/simulate/finding.ts";
import { type Applied, type Check, nameOf } from "./applied.ts";

export class Inside implements Check {
  *applied({ written, before }: Applied): Generator<Finding> {
    for (const { request, became } of written) {
      if (request.kind !== "commit" || became !== "applied") continue;
      const facts = before(request.lease.runId);
      if (facts === undefined) continue;
      const over = new Set(facts.steps.filter(({ status }) => status !== "waiting").map(({ key }) => key));
      for (const { key, parentKey } of request.boundary.steps) {
        if (parentKey === null || !over.has(parentKey)) continue;
        yield {
          invariant: "INV-20",
          message: `"${key}" of ${nameOf(facts)} was recorded after "${parentKey}", which it is inside of, had come to its end`,
        };
      }
    }
  }
}
