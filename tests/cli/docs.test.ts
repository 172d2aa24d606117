/** docs/cli.md says what the commands do: it has all of them, its lines can be typed, and they print what it says. */
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { expect, test } from "vitest";
import { findCommand } from "../../packages/everstep/src/cli/find-command.ts";
import { parse } from "../../packages/everstep/src/cli/parse.ts";
import { commands } from "../../packages/everstep/src/cli/registry.ts";
import { emptyFolder } from "./support/everstep.ts";
import { shellWords } from "./support/shell-words.ts";
import { openWorld, repaired, type World } from "./support/world.ts";

const page = resolve("docs/cli.md");
const text = readFileSync(page, "utf8");

test("every command has its section, and every section is about a command", () => {
  const sections = [...text.matchAll(/^### everstep (.+)$/gm)].map(([, name]) => name);
  expect(new Set(sections)).toEqual(new Set(commands.map(({ path }) => path.join(" "))));
  expect(sections).toHaveLength(commands.length);
});

test("every section has a line of its own command", () => {
  const sections = text.split(/^(?=##+ )/m).filter((section) => section.startsWith("### everstep "));
  const without = sections.filter((section) => {
    const [, name = ""] = /^### everstep (.+)$/m.exec(section) ?? [];
    return !linesIn(section).some(
      (line) => findCommand(commands, wordsIn(line)).command.path.join(" ") === name,
    );
  });
  expect(without).toEqual([]);
});

test.each(linesIn(text))("%s can be typed", (line) => {
  const { command, words } = findCommand(commands, wordsIn(line));
  expect(() => parse(command, words)).not.toThrow();
});

// With -u the page is written anew.
test("the commands print what the page says they print", async () => {
  const world = await openWorld();
  const printedNow = await told(world).finally(() => world.close());
  // Whether the event has been taken up by the time of the answer is nobody's promise.
  const printed = printedNow.replace("to order o-17, which is active.", "to order o-17, which is waiting.");
  // Where it is thrown is a place in the files of these tests.
  const placed = printed.replace(/at Object\.callback \(.*\)/, "at callback (/app/workflows.ts:12:11)");
  await expect(placed).toMatchFileSnapshot(page);
});

/** What happens between two commands: `<!-- later: 10 seconds -->`. */
const meanwhile = /^<!-- (later|repaired): (.*) -->\n/;
/** Commands, and what they print. */
const session = /^(```sh\n(?:(?!```).*\n)*```\n)\n```text\n(?:(?!```).*\n)*```\n/;
const plainLine = /^.*\n/;

/** The page, as it would be if everything it shows was run now, from top to bottom. */
async function told(world: World): Promise<string> {
  const cwd = emptyFolder();
  let written = "";
  for (let rest = text; rest !== ""; ) {
    const [happened, verb, what = ""] = meanwhile.exec(rest) ?? [];
    const [seen, shell = ""] = session.exec(rest) ?? [];
    if (verb === "later") await world.runtime.advance(what);
    if (verb === "repaired") repaired.add(what);
    const part = happened ?? seen ?? plainLine.exec(rest)?.[0] ?? rest;
    written += seen === undefined ? part : `${shell}\n\`\`\`text\n${await ran(shell, world, cwd)}\`\`\`\n`;
    rest = rest.slice(part.length);
  }
  return written;
}

async function ran(shell: string, world: World, cwd: string): Promise<string> {
  let printed = "";
  for (const line of linesIn(shell)) {
    const { out, err, code } = await world.run(wordsIn(line), { cwd });
    expect({ line, code, err }).toEqual({ line, code: 0, err: "" });
    printed += out;
    await world.runtime.settle();
  }
  return printed;
}

/** The lines of the page that call everstep. */
function linesIn(part: string): readonly string[] {
  const blocks = [...part.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map(([, lines = ""]) => lines.split("\n"));
  return blocks.flat().filter((line) => /^(npx )?everstep /.test(line));
}

function wordsIn(line: string): readonly string[] {
  return shellWords(line.replace(/^(npx )?everstep /, ""));
}
