/**
 * Answers with the dashboard's files. They are the same for everybody and hold nothing of the app, so no hook is asked:
 * whoever opens the dashboard shows who they are with every request that it makes of the API.
 */
import { EverstepError } from "../../model/error.ts";
import { isKnownTag } from "../etag.ts";
import { problemResponse } from "../problems.ts";
import type { Dashboard } from "./dashboard.ts";
import { ServedFile } from "./served-file.ts";

const folder = "/dashboard";
const index = "index.html";

/** Everything comes from where the page does, and nothing of what is shown can become code. */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "base-uri 'self'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join("; ");

const pageHeaders = {
  "content-security-policy": policy,
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
} as const;

const forEver = "public, max-age=31536000, immutable";

export class DashboardFiles {
  readonly #files: ReadonlyMap<string, ServedFile>;
  readonly #index: ServedFile;
  /** Where all files have hashed names: whatever is not there is missing, not a page. */
  readonly #hashedFolders: ReadonlySet<string>;

  constructor({ files }: Dashboard) {
    const served = new Map(files.map((file) => [file.path, new ServedFile(file)]));
    const page = served.get(index);
    if (!page) throw noDashboard();
    this.#files = served;
    this.#index = page;
    this.#hashedFolders = new Set(
      files.filter(({ path, isHashed }) => isHashed && path.includes("/")).map(({ path }) => firstOf(path)),
    );
  }

  /** Nothing where the path (as it was sent, under the mount) is not of the dashboard. */
  async answer(request: Request, { path, search }: OwnPath): Promise<Response | undefined> {
    const isRoot = path === "/";
    if (!isRoot && path !== folder && !path.startsWith(`${folder}/`)) return;
    if (request.method === "OPTIONS") return new Response(null, { status: 204, headers: { allow } });
    if (request.method !== "GET" && request.method !== "HEAD") return notOffered(request.method);
    // Relative, because only the browser knows where it is mounted.
    if (isRoot || path === folder) return redirect(`dashboard/${search}`);
    const name = path.slice(folder.length + 1);
    const file = this.#files.get(name);
    if (file && name !== index) return sent(request, file);
    if (this.#hashedFolders.has(firstOf(name))) return missing(name);
    return this.#page(request, name);
  }

  /** Every place inside the dashboard is the same page, which finds its files by where it stands. */
  async #page(request: Request, name: string): Promise<Response> {
    const depth = name.split("/").length - 1;
    const base = depth === 0 ? "./" : "../".repeat(depth);
    const etag = `W/"${this.#index.digest}-${depth}"`;
    const headers = { ...pageHeaders, "cache-control": "no-cache", etag };
    if (isKnownTag(request, etag)) return new Response(null, { status: 304, headers });
    const html = new TextDecoder().decode(await this.#index.plain());
    const page = html.replace('<base href="./"', `<base href="${base}"`);
    return new Response(page, { headers: { ...headers, "content-type": this.#index.type } });
  }
}

/** Of the request, under the mount. */
export interface OwnPath {
  readonly path: string;
  /** With its question mark, or empty. */
  readonly search: string;
}

const allow = "GET, HEAD";

async function sent(request: Request, file: ServedFile): Promise<Response> {
  const etag = `W/"${file.digest}"`;
  const headers = {
    ...pageHeaders,
    "cache-control": file.isHashed ? forEver : "no-cache",
    vary: "Accept-Encoding",
    etag,
  };
  if (isKnownTag(request, etag)) return new Response(null, { status: 304, headers });
  const isPacked = acceptsGzip(request.headers.get("accept-encoding"));
  const init = {
    headers: {
      ...headers,
      "content-type": file.type,
      ...(isPacked ? { "content-encoding": "gzip" } : {}),
    },
    // Some hosts pack what says that it is packed, unless they are told that it already is.
    encodeBody: "manual",
  };
  return new Response(isPacked ? file.packed : await file.plain(), init);
}

function redirect(location: string): Response {
  return new Response(null, { status: 307, headers: { location } });
}

function firstOf(path: string): string {
  return path.slice(0, path.indexOf("/") + 1);
}

function missing(name: string): Response {
  const message = `The dashboard has no file ${name.slice(0, 200)}. Was it updated? Load the page again.`;
  return problemResponse(new EverstepError("ROUTE_NOT_FOUND", message));
}

function notOffered(method: string): Response {
  const message = `${method.slice(0, 20)} is not offered here; ${allow} is.`;
  return problemResponse(new EverstepError("METHOD_NOT_ALLOWED", message), { allow });
}

function noDashboard(): EverstepError {
  return new EverstepError(
    "INVALID_ARGUMENT",
    'http.dashboard has no index.html. Pass what "everstep/dashboard" exports: import { dashboard } from "everstep/dashboard".',
  );
}

/** Whether whoever asks can unpack gzip, by its Accept-Encoding. */
function acceptsGzip(header: string | null): boolean {
  const wishes = new Map(
    (header ?? "").split(",").map((wish) => {
      const [coding = "", ...terms] = wish.split(";").map((part) => part.trim().toLowerCase());
      return [coding, !terms.some((term) => /^q=0(\.0*)?$/.test(term))] as const;
    }),
  );
  return wishes.get("gzip") ?? wishes.get("x-gzip") ?? wishes.get("*") ?? false;
}
