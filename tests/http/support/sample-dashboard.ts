/** A dashboard of three files, for tests of how files are served. */
import { gzipSync } from "node:zlib";
import type { Dashboard, DashboardFile } from "everstep";

export const script = "document.title = 'here';\n";
export const page = (base: string): string =>
  `<!doctype html><html><head><base href="${base}" /><script type="module" src="./assets/index-1a.js"></script></head></html>`;

const file = (path: string, type: string, text: string): DashboardFile => ({
  path,
  type,
  gzip: gzipSync(text).toString("base64"),
  isHashed: path.startsWith("assets/"),
});

export const sampleDashboard: Dashboard = {
  files: [
    file("index.html", "text/html; charset=utf-8", page("./")),
    file("icon.svg", "image/svg+xml", "<svg/>"),
    file("assets/index-1a.js", "text/javascript; charset=utf-8", script),
  ],
};

/** One of each, and a place inside that is no file. */
export const dashboardPaths = [
  "/dashboard",
  "/dashboard/",
  "/dashboard/icon.svg",
  "/dashboard/assets/index-1a.js",
  "/dashboard/assets/missing.js",
  "/dashboard/workflows/order/o-1",
] as const;
