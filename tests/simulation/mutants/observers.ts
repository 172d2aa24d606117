/** Those who only look on, and do harm. Half of all worlds have an observer that throws in everything it is told of. */
import type { Mutant } from "./mutant.ts";

export const observerMutants: readonly Mutant[] = [
  {
    name: "an observer that throws harms whoever tells it",
    guards: ["INV-49"],
    file: "runner/observers.ts",
    find: "    } catch (problem) {\n      this.#failed(observer, name, problem);\n    }",
    replace: "    } catch (problem) {\n      throw problem;\n    }",
  },
];
