/** What takes long begins first, so that nobody waits for the last file alone. */
import { BaseSequencer, type TestSpecification } from "vitest/node";

/** By name, those that take longest first: what is measured is remembered on nobody's fresh clone. */
const slow = [
  "tests/bench-smoke.test.ts",
  "tests/simulation/sweep/sqlite.test.ts",
  "tests/simulation/safety-",
  "tests/simulation/liveness-",
  "tests/simulation/sweep/",
  "tests/simulation/pairs/",
  "tests/simulation/",
  "tests/regressions/processes.test.ts",
  "tests/docs.test.ts",
  "examples/crash-demo/",
  "stores/postgres/postgres-store.test.ts",
  "stores/mysql/mysql-store.test.ts",
  "stores/postgres/pooler.test.ts",
  "stores/redis/redis-store.test.ts",
  "tests/regressions/skewed-clocks.test.ts",
  "tests/regressions/lost-replies-of-servers.test.ts",
  "tests/services.test.ts",
  "tests/dashboard/instance-",
  "tests/crash/kill-loop.test.ts",
  "tests/chaos/",
  "tests/crash/",
  "tests/conformance/",
  "tests/failover/",
  "tests/scenarios/",
  "tests/http/every-route",
  "tests/http/fuzz",
  "tests/security/bombs",
  "tests/verify/",
  "tests/dev/",
  "tests/cli/",
];

export class SlowFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification): number => {
      const at = slow.findIndex((name) => moduleId.includes(name));
      return at === -1 ? slow.length : at;
    };
    const sorted = await super.sort(files);
    // Processes that take many files go on only with those of their own project.
    const byProject = (a: TestSpecification, b: TestSpecification): number =>
      a.project.name.localeCompare(b.project.name);
    return sorted.toSorted((a, b) => rank(a) - rank(b) || byProject(a, b));
  }
}
