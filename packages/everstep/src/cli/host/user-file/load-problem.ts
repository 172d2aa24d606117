/** Why a user's file could not be loaded, in words: where, what, and what to do. Plain data, for it goes between processes. */
import { existsSync } from "node:fs";
import { relative } from "node:path";
import { fileURLToPath } from "node:url";
import { ownFolderUrl } from "../own-package.ts";
import type { Exported } from "./exported.ts";
import { placeOfSyntaxError } from "./syntax-place.ts";

export interface LoadProblem {
  readonly place: Place | null;
  readonly message: string;
  readonly advice: string | null;
}

export interface Place {
  readonly file: string;
  readonly line: number | null;
  /** The line itself and a mark under it, where they are known. */
  readonly frame: readonly string[];
}

export async function loadProblem(error: unknown, lastFile: string): Promise<LoadProblem> {
  const { name, message } = errorFacts(error);
  const place =
    placeOf(error) ?? (await placeOfSyntaxError(error, lastFile)) ?? unknownPlace(error, lastFile);
  const said = name === "Error" || name === "EverstepError" ? message : `${name}: ${message}`;
  return { place, message: said, advice: adviceOn(error, place) };
}

export function nothingExported(path: string, { classes }: Exported, module: object): LoadProblem {
  const names = Object.keys(module);
  const found = names.length === 0 ? "nothing at all" : names.join(", ");
  const [first] = classes;
  const advice =
    first === undefined
      ? 'Export one: export const hello = defineWorkflow({ name: "hello" }, async (event, step) => { ... });'
      : `Give the class a name: export const workflow = defineEntrypoint({ name: "${first.toLowerCase()}" }, ${first}); ` +
        'with defineEntrypoint from "everstep/cloudflare".';
  return {
    place: { file: path, line: null, frame: [] },
    message: `This file exports no workflow and no app. It exports ${found}.`,
    advice,
  };
}

/** As lines to show: where, what, the code, the advice. */
export function problemLines({ place, message, advice }: LoadProblem, cwd: string): readonly string[] {
  const at =
    place && `${relative(cwd, place.file) || place.file}${place.line === null ? "" : `:${place.line}`}`;
  const code = place === null ? [] : place.frame.map((line) => `  ${line}`);
  return [at ? `${at}: ${message}` : message, ...code, ...(advice === null ? [] : [advice])];
}

interface ErrorFacts {
  readonly name: string;
  readonly message: string;
  readonly code: string;
}

function errorFacts(error: unknown): ErrorFacts {
  if (!(error instanceof Error)) return { name: "Error", message: `Thrown: ${String(error)}`, code: "" };
  const { name, message } = error;
  return { name, message, code: String((error as { readonly code?: unknown }).code ?? "") };
}

/** Syntax errors of TypeScript and of imports begin with their place; others have it in their first frame. */
function placeOf(error: unknown): Place | null {
  if (!(error instanceof Error) || error.stack === undefined) return null;
  const [head = "", ...rest] = error.stack.split("\n");
  const decorated = /^(file:\/\/.+|\/.+|[A-Za-z]:\\.+):(\d+)$/.exec(head);
  if (decorated) {
    const [, file = "", line] = decorated;
    const end = rest.findIndex((text) => /^\w*Error\b/.test(text));
    return { file: pathOf(file), line: Number(line), frame: frameOf(rest.slice(0, end)) };
  }
  return error.name === "SyntaxError" ? null : placeOfThrow(error.stack);
}

/** In the user's own code: neither in what is installed, nor in the library wherever that is. */
function placeOfThrow(stack: string): Place | null {
  const frames = [...stack.matchAll(/(file:\/\/\S+?):(\d+):\d+\)?$/gm)].map(([, file = "", line]) => ({
    file,
    line,
  }));
  const library = ownFolderUrl();
  const own = frames.find(({ file }) => !file.includes("/node_modules/") && !file.startsWith(library));
  return own ? { file: pathOf(own.file), line: Number(own.line), frame: [] } : null;
}

/** Only the line that is marked, not those around it. */
function frameOf(lines: readonly string[]): readonly string[] {
  const mark = lines.findIndex((text) => /^\s*\^+\s*$/.test(text));
  return mark < 1 ? [] : lines.slice(mark - 1, mark + 1);
}

function unknownPlace(error: unknown, lastFile: string): Place | null {
  const importer = / imported from (.+)$/.exec(errorFacts(error).message);
  return { file: importer?.[1] === undefined ? lastFile : pathOf(importer[1]), line: null, frame: [] };
}

function pathOf(file: string): string {
  return file.startsWith("file:") ? fileURLToPath(file) : file;
}

function adviceOn(error: unknown, place: Place | null): string | null {
  const { name, message, code } = errorFacts(error);
  switch (code) {
    case "ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX":
      return `Node runs TypeScript by removing its types, so syntax that makes code of its own does not work. ${instead(message)}`;
    case "ERR_MODULE_NOT_FOUND":
      return adviceOnMissing(message);
    case "ERR_UNSUPPORTED_DIR_IMPORT":
      return "Node imports files, not folders: write the file, for instance ./steps/index.ts.";
    case "ERR_UNSUPPORTED_NODE_MODULES_TYPE_STRIPPING":
      return "Node does not run TypeScript inside node_modules: import the package's compiled JavaScript.";
    case "ERR_UNKNOWN_FILE_EXTENSION":
      return "Node runs .ts, .mts, .js and .mjs. Compile other files first.";
  }
  if (/import statement outside a module|Unexpected token 'export'/.test(message)) {
    return 'Its package.json says "type": "commonjs". Write "type": "module" there, or let the name of the file end in .mts (.mjs).';
  }
  if (/does not provide an export named/.test(message)) {
    return "If it is a type, import it with `import type`: Node removes types and does not know what else is one.";
  }
  if (name === "SyntaxError" && place?.frame[0]?.trimStart().startsWith("@")) {
    return "Node does not run decorators. Call the function instead, or compile the file first.";
  }
  return null;
}

function instead(message: string): string {
  if (/enum/.test(message)) return 'Write an object instead: const Color = { Red: "red" } as const.';
  if (/parameter property/.test(message)) return "Declare the field and assign it in the constructor.";
  if (/namespace|module/.test(message)) return "Use a module: a file with exports.";
  return "Write it in plain JavaScript with types, or compile the file first.";
}

function adviceOnMissing(message: string): string | null {
  const [, wanted] = /^Cannot find package '([^']+)'/.exec(message) ?? [];
  if (wanted !== undefined) return `Install it: npm install ${wanted}`;
  const [, path] = /^Cannot find module '([^']+)'/.exec(message) ?? [];
  if (path === undefined) return null;
  const plain = path.replace(/\.js$/, "");
  const ending = [".ts", ".mts", ".js", ".mjs", "/index.ts"].find((each) => existsSync(`${plain}${each}`));
  return ending === undefined
    ? null
    : `Write the ending that the file has, ${ending}: Node does not guess it.`;
}
