/** Uses of one name that are taken for each other. */
import type { Mutant } from "./mutant.ts";

const register = "engine/call-register.ts";

export const nameMutants: readonly Mutant[] = [
  {
    name: "a name that is used again is its first use",
    guards: ["INV-7", "INV-16"],
    file: register,
    find: "const count = ++use.count;",
    replace: "const count = (use.count = 1);",
  },
  {
    name: "uses of a name are counted anew once the replay is over",
    guards: ["INV-15"],
    file: register,
    find: "const count = ++use.count;",
    replace:
      "const fresh = use as { fresh?: number };\n    fresh.fresh ??= 0;\n    const count = this.#replaying ? ++use.count : ++fresh.fresh;",
  },
  {
    name: "a name in flight may be used again without repeat",
    guards: ["INV-15"],
    file: register,
    find: "if (open > 0 && spec.options?.repeat !== true) throw nameInFlight(spec.name, spec.type);",
    replace: "void open;\n    void nameInFlight;",
  },
  {
    name: "a recorded step is not in flight while it waits for its place",
    guards: ["INV-15", "INV-17"],
    file: "engine/call.ts",
    find: "if (use !== null) use.open++;",
    replace: "if (use !== null && record === undefined) use.open++;",
  },
  {
    name: "a refused call gives its number to the next one",
    guards: ["INV-15"],
    file: register,
    find: "    this.#refuseReuse(spec, use, record);\n",
    replace:
      "    try {\n      this.#refuseReuse(spec, use, record);\n    } catch (refusal) {\n      use.count--;\n      throw refusal;\n    }\n",
  },
  {
    name: "names inside of bodies are counted with those of the run",
    guards: ["INV-8"],
    seeds: 4000,
    file: register,
    find: "(parent?.names ?? this.#names)",
    replace: "((parent?.call as { names?: NameUses } | undefined)?.names ?? this.#names)",
  },
];
