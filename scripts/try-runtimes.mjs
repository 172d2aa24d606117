// Tries the packed library in an empty project with an older TypeScript, in Bun and in Deno, all of which npm provides:
// node scripts/up.mjs npm run try:runtimes
import { cpSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { emptyProject, install, npm, pack, root, run } from "./packed-package.mjs";

const compilers = ["5.9", "7"];
const runtimes = { bun: ["bun"], deno: ["deno", "run", "-A"] };

const project = emptyProject();
try {
  const tarball = pack(project);
  const programs = readdirSync(join(root, "tests/package"));
  install(project, tarball, "@types/node@24");
  // With their install scripts, which fetch the binaries.
  run(
    npm[0],
    [...npm.slice(1), "install", "--silent", "--no-audit", "--no-fund", ...Object.keys(runtimes)],
    project,
  );
  for (const program of programs) cpSync(join(root, "tests/package", program), join(project, program));
  for (const version of compilers) checkTypes(version, programs);
  for (const [name, command] of Object.entries(runtimes)) tryRuntime(name, command, programs);
} finally {
  rmSync(project, { recursive: true, force: true });
}

function checkTypes(version, programs) {
  console.log(`TypeScript ${version}`);
  install(project, `typescript@${version}`);
  const compilerOptions = {
    strict: true,
    module: "nodenext",
    target: "es2023",
    noEmit: true,
    types: ["node"],
  };
  writeFileSync(join(project, "tsconfig.json"), JSON.stringify({ compilerOptions, files: programs }));
  run(process.execPath, [join(project, "node_modules/typescript/bin/tsc"), "-p", project], project);
}

function tryRuntime(name, [program, ...args], programs) {
  // Each one with databases of its own.
  const folder = join(project, `in-${name}`);
  mkdirSync(folder);
  const binary = join(project, "node_modules/.bin", program);
  for (const file of programs) {
    cpSync(join(project, file), join(folder, file));
    process.stdout.write(`${name} ${file}: `);
    run(binary, [...args, file], folder);
  }
  process.stdout.write(`${name}: `);
  run(binary, [...args, join(project, "node_modules/everstep/dist/cli/bin.js"), "--version"], folder);
}
