/** Whoever has installed the package has its documentation, and messages lead there. */
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { allowAll, createWorkflows } from "everstep";
import { memory } from "everstep/memory";
import { expect, onTestFinished, test } from "vitest";
import manifest from "../packages/everstep/package.json" with { type: "json" };
import { writeDocs } from "../scripts/package-docs.mjs";

test("the package has every page, every link in them leads to a file of it, and problems name one", async () => {
  expect(manifest.files).toContain("docs");
  expect(manifest.scripts.prepack).toBe("node ../../scripts/package-docs.mjs");
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

  const app = createWorkflows({ workflows: {}, store: memory(), authorize: allowAll() });
  const answer = await app.fetch(new Request("http://localhost/nowhere"));
  const { error } = (await answer.json()) as { error: { docs: string } };
  const [page = "", place] = error.docs.split("#");
  const headings = readFileSync(join(project, page), "utf8").toLowerCase();
  expect(headings).toContain(`### ${place}\n`);
  await app.stop();
});

function linksIn(page: string): string[] {
  const prose = page.replace(/^```[\s\S]*?^```$/gm, "");
  return [...prose.matchAll(/\]\(([^)#\s]+)(?:#[^)]*)?\)/g)]
    .map(([, link = ""]) => link)
    .filter((link) => !/^[a-z]+:/.test(link));
}
