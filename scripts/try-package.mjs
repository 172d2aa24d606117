// Packs the library, installs the tarball into an empty project outside the repository, and runs a user's programs there.
import { execFileSync } from "node:child_process";
import { cpSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const project = mkdtempSync(join(tmpdir(), "everstep-try-package-"));
const npm = process.env.npm_execpath ? [process.execPath, process.env.npm_execpath] : ["npm"];
const run = (command, args, cwd = project) =>
  execFileSync(command, args, { cwd, stdio: ["ignore", "inherit", "inherit"], env: cleanEnvironment() });

try {
  run(
    npm[0],
    [...npm.slice(1), "pack", "--silent", "--pack-destination", project],
    join(root, "packages/everstep"),
  );
  const tarball = readdirSync(project).find((file) => file.endsWith(".tgz"));
  writeFileSync(join(project, "package.json"), JSON.stringify({ private: true, type: "module" }));
  const quiet = ["--silent", "--no-audit", "--no-fund", "--ignore-scripts"];
  run(npm[0], [...npm.slice(1), "install", `./${tarball}`, ...quiet]);
  const programs = readdirSync(join(root, "tests/package"));
  for (const program of programs) cpSync(join(root, "tests/package", program), join(project, program));
  checkTypes(programs);
  for (const program of programs) {
    process.stdout.write(`${program}: `);
    run(process.execPath, ["--disable-warning=ExperimentalWarning", program]);
  }
} finally {
  rmSync(project, { recursive: true, force: true });
}

/** As written, in strict mode, against the packed declarations. */
function checkTypes(programs) {
  const types = join(root, "node_modules/@types");
  const compilerOptions = {
    strict: true,
    module: "nodenext",
    target: "es2023",
    noEmit: true,
    skipLibCheck: false,
  };
  const config = {
    compilerOptions: { ...compilerOptions, typeRoots: [types], types: ["node"] },
    files: programs,
  };
  writeFileSync(join(project, "tsconfig.json"), JSON.stringify(config));
  run(process.execPath, [join(root, "node_modules/typescript/bin/tsc"), "-p", project]);
}

/** npm's own variables would point the inner npm back at this repository. */
function cleanEnvironment() {
  return Object.fromEntries(
    Object.entries(process.env).filter(
      ([name]) => !name.startsWith("npm_config_") && !name.startsWith("npm_package_"),
    ),
  );
}
