/** The store contract over SQLite in whichever runtime runs this file: node, bun or deno. Ends with 1 if a case fails. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import type { Store } from "../../packages/everstep/src/store/store.ts";
import { sqlite } from "../../packages/everstep/src/stores/sqlite/index.ts";
import {
  describeStore,
  type TestRunner,
} from "../../packages/everstep/src/testing/store-contract/describe-store.ts";

const folder = mkdtempSync(join(tmpdir(), "everstep-runtime-"));
const paths = new WeakMap<Store, string>();
const cases: { readonly name: string; readonly body: () => Promise<void> }[] = [];
let files = 0;

const lacking = "not tried in this runtime";
const runner: TestRunner = {
  describe: (_name, body) => body(),
  it: Object.assign((name: string, body: () => Promise<void>) => void cases.push({ name, body }), {
    skip() {},
  }),
};

function open(path: string = join(folder, `${++files}.db`)): Store {
  const opened = sqlite({ path, synchronous: "normal" });
  // What authors write themselves depends on their own driver.
  const capabilities = {
    ...opened.capabilities,
    mutations: { has: false, why: lacking },
    transactions: { has: false, why: lacking },
  } as const;
  Object.defineProperty(opened, "capabilities", { value: capabilities });
  paths.set(opened, path);
  return opened;
}

describeStore(
  {
    name: "sqlite (file)",
    open: () => open(),
    reopen: (store) => open(paths.get(store)),
    lacks: { nudges: lacking, mutations: lacking, transactions: lacking },
  },
  runner,
);

let failed = 0;
for (const { name, body } of cases) {
  try {
    await body();
  } catch (error) {
    failed += 1;
    console.error(`FAILED ${name}:`, error);
  }
}
rmSync(folder, { recursive: true, force: true });
console.log(`${cases.length - failed} of ${cases.length} cases passed.`);
process.exitCode = failed === 0 ? 0 : 1;
