/** Help says what there is: nothing is left out, and every example can be typed. */
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { statusFrom } from "everstep";
import { describe, expect, test } from "vitest";
import type { Command } from "../../packages/everstep/src/cli/command.ts";
import { findCommand, namesOf } from "../../packages/everstep/src/cli/find-command.ts";
import { optionsOf, parse } from "../../packages/everstep/src/cli/parse.ts";
import { commands } from "../../packages/everstep/src/cli/registry.ts";
import { otherWords, statuses } from "../../packages/everstep/src/cli/status-words.ts";
import { everstep } from "./support/everstep.ts";
import { shellWords } from "./support/shell-words.ts";
import { inTerminal, legible } from "./support/terminal.ts";

const named = commands.map((command) => ({ name: command.path.join(" "), command }));

describe.each(named)("everstep $name", ({ command }) => {
  test("has examples, and each can be typed", () => {
    expect(command.examples.length).toBeGreaterThan(0);
    for (const { line } of command.examples) expect(commandOf(line)).toBe(command);
  });

  test("says what it is in one line without a full stop", () => {
    expect(command.summary).toMatch(/^[^\n]{10,90}[^.\n]$/);
  });

  test("has no two options of the same letter, and no option called as an argument", () => {
    const letters = Object.values(optionsOf(command)).flatMap(({ short }) => short ?? []);
    expect(new Set(letters).size).toBe(letters.length);
    const taken = (command.arguments ?? []).filter(({ name }) => Object.hasOwn(command.options ?? {}, name));
    expect(taken).toEqual([]);
  });
});

test("no two commands have the same name", () => {
  const names = commands.flatMap((command) => namesOf(command).map((name) => name.join(" ")));
  expect(names.filter((name, at) => names.indexOf(name) !== at)).toEqual([]);
});

test("everstep --help lists every command with what it does, and its examples can be typed", async () => {
  const { out, code } = await everstep(["--help"]);
  expect(code).toBe(0);
  const text = out.replace(/\s+/g, " ");
  for (const { path, summary, aliases = [] } of commands) {
    expect(text).toContain(`${path.join(" ")} `);
    expect(text.toLowerCase()).toContain(summary.toLowerCase());
    for (const alias of aliases) expect(text).toContain(alias.join(" "));
  }
  const examples = out.slice(out.indexOf("\nExamples\n")).matchAll(/everstep ([^&\n]+)/g);
  for (const [, line] of examples) expect(commandOf(`${line}`)).toBeDefined();
  expect((await everstep([])).out).toBe(out);
  expect((await everstep(["help"])).out).toBe(out);
});

test("help on a command has its arguments, its options, and its examples", async () => {
  const { out } = await everstep(["help", "instances", "terminate"]);
  expect(out).toMatchInlineSnapshot(`
    "Usage: everstep instances terminate [workflow] [id] [options]
       or: everstep wf cancel [workflow] [id] [options]

    End an instance for good, or many of them.

    Asks first when a person is at the terminal. What a step in flight returns later is refused.

    With --all: every instance that has not ended, or that the filters choose. A script says --yes.

    Arguments
      [workflow]  the workflow's name; without it the id is looked for in all workflows, and --all means all
                  workflows (also as --workflow)
      [id]        the instance's id; left out with --all (also as --id)

    Options
      --reason <reason>   kept with the instance
      --all               every instance that the filters choose
      --dry-run           with --all: show which ones, and change nothing
      -y, --yes           do not ask
      --json              as JSON, one object in each line, for programs
      --status <status>   instances with this status only; may be repeated, or several with commas
      --dead-letter       only those that the engine gave up on
      --since <duration>  only those created within this time
      --id-prefix <text>  only those whose ids begin like this
      -h, --help          explain the command

    Connection
      --url <url>                 where the workflows are mounted, for instance https://host/api/workflows
      -H, --header "Name: value"  a header to send with every request, may be repeated
      --timeout <duration>        how long to wait for an answer (default 15s)
      --retries <number>          how often to try again when there is no answer, or 429, or 5xx (default 2)

    Examples
      # asks, then ends it
      everstep instances terminate order o-17
      # in a script
      everstep instances terminate order o-17 --yes --reason 'sent twice'
      # which orders would it end?
      everstep instances terminate --workflow order --status waiting --all --dry-run
      # by its id alone
      everstep wf cancel o-17
    "
  `);
  expect((await everstep(["instances", "terminate", "--help"])).out).toBe(out);
  expect((await everstep(["wf", "cancel", "o-1", "-h"])).out).toBe(out);
});

test("help on a word lists what there is under it", async () => {
  const { out } = await everstep(["help", "wf"]);
  expect(out).toMatchInlineSnapshot(`
    "Usage: everstep wf <command>

      wf ls [workflow]                  List instances, the newest first
      wf show [workflow] <id>           Show one instance: its status, why, and its steps on a timeline
      wf start <workflow> [params]      Create an instance, which begins to run
      wf cancel [workflow] [id]         End an instance for good, or many of them
      wf rewind [workflow] <id> <step>  Go back to a step, and run from there

    "everstep help wf <command>" explains one of them.
    "
  `);
  expect((await everstep(["wf", "--help"])).out).toBe(out);
});

test("help fits the window and has colours", async () => {
  const { screen } = await inTerminal(["help", "instances", "logs"], { columns: 70 });
  expect(legible(screen)).toMatchInlineSnapshot(`
    "<bold>Usage:</> everstep instances logs [workflow] <id> [options]

    Show the log lines of an instance, and follow them.

    With --follow new lines appear as they are written, into later runs
    too, until the instance has ended.

    <bold>Arguments</>
      <cyan>[workflow]</>  the workflow's name; without it the id is looked for in
                  all workflows (also as --workflow)
      <cyan><id>      </>  the instance's id (also as --id)

    <bold>Options</>
      <cyan>-f, --follow             </>  go on with new lines until the instance
                                 has ended
      <cyan>--run <number>           </>  the number of the run; the current one
                                 when left out
      <cyan>--log-level <level>      </>  lines of this level only: debug, info,
                                 warn, error
      <cyan>--log-category <category></>  lines of this category only; the engine's
                                 own are in system
      <cyan>--json                   </>  as JSON, one object in each line, for
                                 programs
      <cyan>-h, --help               </>  explain the command

    <bold>Connection</>
      <cyan>--url <url>               </>  where the workflows are mounted, for
                                  instance https://host/api/workflows
      <cyan>-H, --header "Name: value"</>  a header to send with every request, may
                                  be repeated
      <cyan>--timeout <duration>      </>  how long to wait for an answer (default
                                  15s)
      <cyan>--retries <number>        </>  how often to try again when there is no
                                  answer, or 429, or 5xx (default 2)

    <bold>Examples</>
      <dim># watch it work</>
      everstep instances logs order o-17 --follow
      <dim># what went wrong in the first run</>
      everstep instances logs order o-17 --run 1 --log-level error
    "
  `);
});

test("--version says which", async () => {
  const { version } = JSON.parse(readFileSync("packages/everstep/package.json", "utf8"));
  expect((await everstep(["--version"])).out).toBe(`everstep ${version}\n`);
});

test("the words for a status are those that the server understands", () => {
  for (const word of [...statuses, ...otherWords]) expect(statusFrom(word)).toBeDefined();
  expect(otherWords.filter((word) => (statuses as readonly string[]).includes(word))).toEqual([]);
});

describe("completion", () => {
  const complete = async (...words: string[]): Promise<string[]> => {
    const { out: script } = await everstep(["completion", "bash"]);
    const typed = words.map((word) => `'${word}'`).join(" ");
    const program = `${script}\nCOMP_WORDS=(everstep ${typed}); COMP_CWORD=${words.length}; _everstep; printf '%s\\n' "\${COMPREPLY[@]}"`;
    const { stdout, stderr } = spawnSync("bash", ["--norc", "-c", program], {
      encoding: "utf8",
      cwd: "packages/everstep",
    });
    expect(stderr).toBe("");
    return stdout.split("\n").filter((line) => line !== "");
  };

  test("offers the first words of all commands", async () => {
    const offered = await complete("");
    expect(new Set(offered)).toEqual(
      new Set(commands.flatMap((command) => namesOf(command).map(([first]) => first))),
    );
  });

  test("offers second words, options, and values of options", async () => {
    expect(await complete("instances", "re")).toEqual(["resume", "restart", "rewind", "retry"]);
    expect(await complete("wf", "ls", "--st")).toEqual(["--status"]);
    expect(await complete("instances", "get", "order", "--f")).toEqual(["--full"]);
    expect(await complete("instances", "list", "--status", "")).toEqual([...statuses]);
    expect(await complete("instances", "logs", "order", "o-1", "--log-level", "w")).toEqual(["warn"]);
    expect(await complete("instances", "create", "order", "--params-file", "pack")).toEqual(["package.json"]);
    expect(await complete("instances", "get", "--id", "")).toEqual([]);
  });

  test.each(["zsh", "fish"])("the script for %s has every command and every option", async (shell) => {
    const { out, code } = await everstep(["completion", shell]);
    expect(code).toBe(0);
    for (const command of commands) {
      expect(out).toContain(`"${command.path.join(" ")}"`);
      for (const name of Object.keys(optionsOf(command))) expect(out).toContain(name);
    }
    const checker = spawnSync(shell, ["-n"], { input: out, encoding: "utf8" });
    if (checker.error === undefined) expect(checker.stderr).toBe("");
  });
});

/** The command an example calls; an error if it cannot be parsed. */
function commandOf(line: string): Command {
  const found = findCommand(commands, shellWords(line));
  parse(found.command, found.words);
  return found.command;
}
