// Packs the library, installs the tarball into an empty project outside the repository, and runs a user's programs and
// commands there.
import { spawn } from "node:child_process";
import { cpSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { checkPublished } from "./check-published.mjs";
import { cleanEnvironment, emptyProject, install, npm, pack, root, run } from "./packed-package.mjs";

const project = emptyProject();
// Contains only what the commands of the README leave there.
const newcomer = emptyProject();
rmSync(join(newcomer, "package.json"));

try {
  const tarball = pack(project);
  install(project, tarball);
  const problems = checkPublished(join(project, "node_modules/everstep"));
  if (problems.length > 0) throw new Error(`The packed library is wrong:\n${problems.join("\n")}`);
  const programs = readdirSync(join(root, "tests/package"));
  for (const program of programs) cpSync(join(root, "tests/package", program), join(project, program));
  checkTypes(programs);
  for (const program of programs) {
    process.stdout.write(`${program}: `);
    run(process.execPath, ["--disable-warning=ExperimentalWarning", program], project);
  }
  install(newcomer, tarball);
  await tryCommands();
} finally {
  for (const folder of [project, newcomer]) rmSync(folder, { recursive: true, force: true });
}

/** From a folder with the package installed to an instance that is complete. */
async function tryCommands() {
  const npx = (...words) => [...npm.slice(1), "exec", "--no", "--", "everstep", ...words];
  run(npm[0], npx("init", "--yes"), newcomer);
  checkInit();
  const dev = spawn(npm[0], npx("dev", "--port", "0"), { cwd: newcomer, env: cleanEnvironment() });
  const ended = new Promise((resolve) => dev.once("close", resolve));
  const says = waitForOutput(dev, ended);
  try {
    await says("start one");
    run(npm[0], npx("instances", "create", "hello", '{"name":"Ada"}', "--wait"), newcomer);
    await says("complete:");
  } finally {
    // npm may not pass the signal on; the file names the process itself.
    const note = join(newcomer, ".everstep/dev.json");
    if (existsSync(note)) process.kill(JSON.parse(readFileSync(note, "utf8")).pid, "SIGINT");
    else dev.kill();
    await ended;
  }
}

/** Resolves once the program has printed something, and rejects if it exits or a minute passes before that. */
function waitForOutput(program, ended) {
  let text = "";
  const looks = new Set();
  for (const stream of [program.stdout, program.stderr]) {
    stream.setEncoding("utf8").on("data", (more) => {
      process.stdout.write(more);
      text += more;
      for (const look of looks) look();
    });
  }
  return (words) =>
    new Promise((resolve, reject) => {
      const fail = () => reject(new Error(`everstep dev did not say "${words}".`));
      const timer = setTimeout(fail, 60_000);
      const look = () => {
        if (!text.includes(words)) return;
        clearTimeout(timer);
        looks.delete(look);
        resolve();
      };
      looks.add(look);
      look();
      void ended.then(fail);
    });
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
  run(process.execPath, [join(root, "node_modules/typescript/bin/tsc"), "-p", project], project);
}

/** What init wrote is checked with the tsconfig that it wrote. */
function checkInit() {
  const config = {
    extends: "./tsconfig.json",
    compilerOptions: { typeRoots: [join(root, "node_modules/@types")] },
  };
  const files = ["workflows.ts", "app.ts", "uses-output.ts"];
  writeFileSync(
    join(newcomer, "uses-output.ts"),
    'import { app } from "./app.ts";\n' +
      "const ending = await (await app.workflows.hello.create()).result();\n" +
      'export const text: string = ending.output ?? "";\n' +
      "// @ts-expect-error: the output is text\n" +
      "export const number: number = ending.output ?? 0;\n",
  );
  writeFileSync(join(newcomer, "tsconfig.check.json"), JSON.stringify({ ...config, files }));
  const tsc = join(root, "node_modules/typescript/bin/tsc");
  run(process.execPath, [tsc, "-p", join(newcomer, "tsconfig.check.json")], newcomer);
}
