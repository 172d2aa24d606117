/** What the package brings along, what it asks of the network, and what its pages say of trust. */
import { execFileSync } from "node:child_process";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { nodesOf, placeOf, readSources } from "../source-tree.ts";

const packages = globSync("packages/*/package.json").map((path) => ({
  folder: path.slice(0, -"/package.json".length),
  manifest: JSON.parse(readFileSync(path, "utf8")),
}));
const library = packages.find(({ manifest }) => manifest.name === "everstep");
if (!library) throw new Error("The library is not in packages/.");

/** npm runs these by itself when a package is installed. */
const installScripts = [
  "preinstall",
  "install",
  "postinstall",
  "preprepare",
  "prepare",
  "postprepare",
  "dependencies",
];

describe("SEC-33 what is published", () => {
  test("brings no dependency along; drivers are for whoever uses them to choose", () => {
    const { dependencies, optionalDependencies, bundleDependencies, bundledDependencies } = library.manifest;
    expect([dependencies, optionalDependencies, bundleDependencies, bundledDependencies]).toEqual(
      Array(4).fill(undefined),
    );
    const { peerDependencies, peerDependenciesMeta } = library.manifest;
    expect(Object.keys(peerDependencies).toSorted()).toEqual(["ioredis", "mysql2", "pg"]);
    for (const name of Object.keys(peerDependencies))
      expect(peerDependenciesMeta[name]).toEqual({ optional: true });
  });

  test("runs nothing when it is installed", () => {
    for (const { manifest } of packages)
      for (const script of installScripts)
        expect(manifest.scripts?.[script], `${manifest.name} ${script}`).toBeUndefined();
    const root = JSON.parse(readFileSync("package.json", "utf8"));
    for (const script of installScripts) expect(root.scripts?.[script], script).toBeUndefined();
  });

  test("is what an allow-list names, and nothing of the repository beside it", () => {
    // Sources are there for the declaration maps; what tests them stays in the repository.
    expect(library.manifest.files).toEqual([
      "dist",
      "docs",
      "src",
      "!src/**/*.test.ts",
      "!src/stores/*/test-*.ts",
      "README.md",
      "LICENSE",
    ]);
    const said = execFileSync("npm", ["pack", "--dry-run", "--json", "--ignore-scripts"], {
      cwd: library.folder,
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
    });
    const listed = JSON.parse(said);
    const [{ files }] = Array.isArray(listed) ? listed : Object.values(listed);
    const paths = (files as { path: string }[]).map(({ path }) => path);
    expect(paths).toContain("package.json");
    for (const path of paths) {
      expect(path).toMatch(
        /^(package\.json|README\.md|LICENSE|docs\/[\w-]+\.md|src\/[\w./-]+\.ts|dist\/[\w./-]+\.(js|d\.ts|js\.map|d\.ts\.map))$/,
      );
      expect(path).not.toMatch(/\.test\.|\.tmp\.|golden|fixture/);
    }
  });

  test("is built from locked packages whose content is known", () => {
    const { packages: locked } = JSON.parse(readFileSync("package-lock.json", "utf8"));
    for (const [path, entry] of Object.entries<Record<string, unknown>>(locked)) {
      if (!path.startsWith("node_modules/") || entry.link === true) continue;
      expect(entry.integrity, path).toMatch(/^sha512-/);
    }
  });
});

describe("SEC-7 the library asks nobody anything", () => {
  /** What could make a request. Drivers connect to where their host says, and nowhere else. */
  const callers = new Set(["fetch", "XMLHttpRequest", "WebSocket", "EventSource", "sendBeacon"]);
  const modules = /^(node:)?(http|https|http2|net|tls|dgram|dns|undici)(\/|$)/;
  // The fetch client and the command line ask whom their user names; `node` listens.
  const sources = readSources(join(library.folder, "src")).filter(
    ({ path }) => !/\.test\.ts$|test-|^(fetch-client|cli|node)\//.test(path),
  );

  test("there is no request to an address that a caller could have given", () => {
    const found: string[] = [];
    for (const file of sources) {
      for (const node of nodesOf(file.tree)) {
        const calls = node.type === "CallExpression" || node.type === "NewExpression";
        if (calls && node.callee?.type === "Identifier" && callers.has(node.callee.name))
          found.push(placeOf(file, node));
        const imports = /^(Import|Export)\w*Declaration$|^ImportExpression$/.test(node.type);
        if (imports && modules.test(node.source?.value ?? "")) found.push(placeOf(file, node));
      }
    }
    expect(found).toEqual([]);
    expect(sources.length).toBeGreaterThan(100);
  });
});

describe("SEC-32 trust", () => {
  const pages = globSync("docs/*.md").map((path) => ({ path, text: readFileSync(path, "utf8") }));

  test("the rules say that workflow code is trusted code, and that there is no sandbox", () => {
    const rules = pages.find(({ path }) => path.endsWith("rules.md"))?.text ?? "";
    expect(rules).toContain("## Workflow code is trusted code");
    expect(rules).toMatch(/There is no sandbox\./);
  });

  test("no page claims that anything else is safe to run", () => {
    for (const { path, text } of [...pages, { path: "README.md", text: readFileSync("README.md", "utf8") }])
      for (const line of text
        .split("\n")
        .filter((each) => /sandbox|untrusted|isolat(ed|ion) (code|execution)/i.test(each)))
        expect(line, path).toMatch(/\bno sandbox\b|\bnot?\b/i);
  });
});
