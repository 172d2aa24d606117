/** The installed package contains its documentation, the links in error messages lead there, and nothing needs the repository. */
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import manifest from "../packages/everstep/package.json" with { type: "json" };
import { problemOf } from "../packages/everstep/src/http/problems.ts";
import { type ErrorCode, EverstepError } from "../packages/everstep/src/model/error.ts";
import { writeDocs } from "../scripts/package-docs.mjs";
import { publishedManifest } from "../scripts/package-manifest.mjs";
import { readSources } from "./source-tree.ts";

test("the package has every page, every link in them leads to a file of it, and every error code has a section in one", () => {
  expect(manifest.files).toContain("docs");
  expect(manifest.scripts.prepack).toContain("node ../../scripts/package-docs.mjs");
  const project = mkdtempSync(join(tmpdir(), "everstep-package-docs-"));
  onTestFinished(() => rmSync(project, { recursive: true, force: true }));
  const folder = join(project, "node_modules/everstep");
  writeDocs(join(folder, "docs"));
  cpSync("packages/everstep/README.md", join(folder, "README.md"));

  const names = readdirSync("docs").filter((name) => name.endsWith(".md"));
  expect(readdirSync(join(folder, "docs")).sort()).toEqual(names.sort());
  const pages = ["README.md", ...names.map((name) => `docs/${name}`)];
  const lost = pages.flatMap((page) =>
    linksIn(readFileSync(join(folder, page), "utf8"))
      .filter((link) => !existsSync(join(folder, dirname(page), link)))
      .map((link) => `${page}: ${link}`),
  );
  expect(lost).toEqual([]);
  expect(linksIn(readFileSync(join(folder, "README.md"), "utf8"))).toEqual(
    expect.arrayContaining(names.map((name) => `docs/${name}`)),
  );

  const headings = readFileSync(join(folder, "docs/errors.md"), "utf8").toLowerCase().split("\n");
  for (const code of codes()) {
    const [page = "", place] = problemOf(new EverstepError(code, "It failed.")).error.docs.split("#");
    expect(existsSync(join(project, page)), page).toBe(true);
    expect(headings, code).toContain(`### ${place}`);
  }
});

test("package.json says where the project lives, and is published without the condition of the repository", () => {
  const published = JSON.parse(publishedManifest(readFileSync("packages/everstep/package.json", "utf8")));
  expect(published).toMatchObject({
    homepage: expect.stringMatching(/^https:/),
    repository: { url: expect.stringMatching(/^git\+https:/) },
    bugs: expect.stringMatching(/^https:/),
  });
  expect(JSON.stringify(published)).not.toContain("everstep-source");
  expect(Object.keys(published.exports)).toEqual(Object.keys(manifest.exports));
  expect(published.exports["."]).toEqual({ types: "./dist/index.d.ts", default: "./dist/index.js" });
});

test("the command line names no export of Node that Bun lacks: its modules would not link", () => {
  const missingInBun = ["findPackageJSON", "registerHooks", "stripTypeScriptTypes"];
  const named = readSources("packages/everstep/src")
    .filter(({ path }) => !path.endsWith(".test.ts"))
    .flatMap(({ path }) => {
      const source = readFileSync(join("packages/everstep/src", path), "utf8");
      const imports = [...source.matchAll(/^import \{([^}]*)\} from "node:/gm)].map(
        ([, names = ""]) => names,
      );
      return missingInBun.filter((name) => imports.join().includes(name)).map((name) => `${path}: ${name}`);
    });
  expect(named).toEqual([]);
});

/** All of them, from the type itself. */
function codes(): readonly ErrorCode[] {
  const source = readFileSync("packages/everstep/src/model/error.ts", "utf8");
  const [, union = ""] = /export type ErrorCode =([^;]*);/.exec(source) ?? [];
  return [...union.matchAll(/"([A-Z_]+)"/g)].map(([, code]) => code as ErrorCode);
}

function linksIn(page: string): string[] {
  const prose = page.replace(/^```[\s\S]*?^```$/gm, "");
  return [...prose.matchAll(/\]\(([^)#\s]+)(?:#[^)]*)?\)/g)]
    .map(([, link = ""]) => link)
    .filter((link) => !/^[a-z]+:/.test(link));
}
