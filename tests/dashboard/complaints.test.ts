/** The tests of the dashboard are worth something only if a page cannot go wrong unnoticed. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { axe, describeBrowser } from "../support/browser.ts";
import { type HandlerServer, openHandlerServer } from "../support/handler-server.ts";

// The dashboard's own is stricter still: it may not even ask other origins.
const policy =
  "default-src 'none'; script-src 'self'; img-src data:; connect-src *; require-trusted-types-for 'script'; trusted-types 'none'";

const complaints: Record<string, RegExp> = {
  "console error": /console: oh/,
  "uncaught error": /uncaught: Error: oh/,
  "unhandled rejection": /uncaught: Error: oh/,
  "text as HTML": /content security policy: require-trusted-types-for/,
  "inline style": /content security policy: style-src-elem/,
  "request to another origin": /another origin: http:/,
};

const scripts: Record<string, string> = {
  "console error": `console.error("oh")`,
  "uncaught error": `throw new Error("oh")`,
  "unhandled rejection": `Promise.reject(new Error("oh"))`,
  "text as HTML": `try { document.body.innerHTML = "<b>oh</b>" } catch {}`,
  "inline style": `const style = document.createElement("style"); style.textContent = "*{}"; document.head.append(style)`,
  "request to another origin": `fetch("OTHER")`,
};

describeBrowser("a page in a test", ({ openPage, takeComplaints }) => {
  let server: HandlerServer;
  let other: HandlerServer;
  beforeAll(async () => {
    const headers = { "access-control-allow-origin": "*" };
    other = await openHandlerServer(async () => new Response("welcome", { headers }));
    server = await openHandlerServer(async (request) => {
      const { pathname, search } = new URL(request.url);
      const script = scripts[decodeURIComponent(search.slice(1))] ?? "";
      const isScript = pathname === "/script.js";
      const page = `<!doctype html><html lang="en"><title>page</title><main><h1>Page</h1><img src="data:,"></main>
        <script src="script.js${search}"></script></html>`;
      const type = isScript ? "text/javascript" : "text/html";
      const headers = { "content-type": type, "content-security-policy": policy };
      return new Response(isScript ? script.replace("OTHER", other.url) : page, { headers });
    });
  });
  afterAll(async () => {
    await server?.close();
    await other?.close();
  });

  /** All that was heard until this was. */
  async function hear(complaint: RegExp): Promise<readonly string[]> {
    const all: string[] = [];
    const next = (): string => {
      all.push(...takeComplaints());
      return all.join("\n");
    };
    await expect.poll(next).toMatch(complaint);
    return all;
  }

  test.each(Object.keys(complaints))("fails its test by: %s", async (name) => {
    const page = await openPage();
    await page.goto(`${server.url}/?${name}`);
    await hear(complaints[name]!);
  });

  test("may complain of what the test provokes, and of nothing else", async () => {
    const page = await openPage({ mayComplain: [/console: oh/] });
    await page.goto(`${server.url}/?console error`);
    await page.goto(`${server.url}/?uncaught error`);
    expect(await hear(/uncaught: Error: oh/)).toHaveLength(1);
  });

  test("is judged by axe in spite of its policy, and without a complaint", async () => {
    const page = await openPage();
    await page.goto(`${server.url}/?nothing`);
    expect(await axe(page)).toEqual([expect.stringContaining("image-alt (critical)")]);
    expect(takeComplaints()).toEqual([]);
  });
});
