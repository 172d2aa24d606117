/**
 * Answers as the documentation shows them, held against real ones. `...` stands for what is left out: in an object for other
 * properties, in a list for any items, as a header's value for any value. Ids that are drawn need not be the same.
 */
import { expect } from "vitest";
import { eventsOf } from "./curl.ts";

export type AnswerKind = "json" | "http" | "text";

export function expectShown(kind: AnswerKind, shown: string, actual: string): void {
  if (kind === "json") expectJson(shown, actual);
  else if (kind === "http") expectHttp(shown, actual);
  else expectEvents(shown, actual);
}

function expectJson(shown: string, actual: string): void {
  const wanted = JSON.parse(withMarks(shown));
  const given: unknown = JSON.parse(actual);
  expect(fitted(wanted, given), "the page shows something else").toEqual(wanted);
}

/** Status and body as they are; of the headers those that are shown. */
function expectHttp(shown: string, actual: string): void {
  const [head = "", body = ""] = parted(shown);
  const [actualHead = "", actualBody = ""] = parted(actual.replaceAll("\r\n", "\n"));
  const [status, ...headers] = head.split("\n");
  const [actualStatus, ...actualHeaders] = actualHead.split("\n");
  expect(actualStatus?.trim()).toBe(status?.trim());
  const given = new Map(actualHeaders.map(nameAndValue));
  for (const [name, value] of headers.map(nameAndValue))
    expect([name, given.get(name)]).toEqual([name, value]);
  if (body === "") expect(actualBody.trim()).toBe("");
  else expectJson(body, actualBody);
}

function parted(text: string): string[] {
  const at = text.indexOf("\n\n");
  return at === -1 ? [text.trim(), ""] : [text.slice(0, at), text.slice(at + 2).trim()];
}

function nameAndValue(line: string): [string, string] {
  const [name = "", ...value] = line.split(":");
  return [name.toLowerCase(), value.join(":").trim()];
}

function expectEvents(shown: string, actual: string): void {
  expect(actual.split("\n\n")[0]).toBe(shown.split("\n\n")[0]);
  const wanted = eventsOf(`${shown}\n\n`);
  const given = eventsOf(actual);
  expect(given.map(nameOf)).toEqual(wanted.map(nameOf));
  for (const [at, event] of wanted.entries()) expectJson(dataOf(event), dataOf(given[at] ?? ""));
}

const nameOf = (event: string): string | undefined => /^event: (.+)$/m.exec(event)?.[1];
const dataOf = (event: string): string => /^data: (.+)$/m.exec(event)?.[1] ?? "";

export function eventCount(shown: string): number {
  return eventsOf(`${shown}\n\n`).length;
}

const mark = "...";

/** Dots become a property or an item, as it fits the place; those in strings stay what they are. */
function withMarks(text: string): string {
  const open: string[] = [];
  return text.replace(/"(?:[^"\\]|\\.)*"|[[\]{}]|\.\.\./g, (part) => {
    if (part === "{" || part === "[") open.push(part);
    else if (part === "}" || part === "]") open.pop();
    else if (part === mark) return open.at(-1) === "{" ? `"${mark}": true` : `"${mark}"`;
    return part;
  });
}

/** The answer with what the page leaves out taken away, so that a difference is seen at a glance. */
function fitted(wanted: unknown, given: unknown): unknown {
  if (typeof wanted === "string" && typeof given === "string")
    return sameKind(wanted, given) ? wanted : given;
  if (Array.isArray(wanted) && Array.isArray(given)) {
    const at = wanted.indexOf(mark);
    if (at === -1) return given.map((item, index) => fitted(wanted[index], item));
    return [...given.slice(0, at).map((item, index) => fitted(wanted[index], item)), mark];
  }
  if (!isObject(wanted) || !isObject(given)) return given;
  const keys = Object.hasOwn(wanted, mark)
    ? Object.keys(wanted).filter((key) => key !== mark)
    : Object.keys(given);
  const shown = keys
    .filter((key) => Object.hasOwn(given, key))
    .map((key) => [key, fitted(wanted[key], given[key])]);
  return Object.fromEntries(Object.hasOwn(wanted, mark) ? [...shown, [mark, true]] : shown);
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

const drawn = [/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/];

function sameKind(a: string, b: string): boolean {
  return a === b || drawn.some((form) => form.test(a) && form.test(b));
}
