/** The dashboard comes with the package: a page, and everything that the page asks for. */
import assert from "node:assert/strict";
import { createWorkflows, defineWorkflow } from "everstep";
import { dashboard } from "everstep/dashboard";
import { memory } from "everstep/memory";

const hello = defineWorkflow({ name: "hello" }, async () => "hello");
const app = createWorkflows({ workflows: { hello }, store: memory(), http: { dashboard } });
const get = (path: string): Promise<Response> => app.fetch(new Request(`http://localhost/dashboard/${path}`));

const page = await get("");
assert.equal(page.headers.get("content-type"), "text/html; charset=utf-8");
const asked = [...(await page.text()).matchAll(/(?:src|href)="\.\/([^"]+)"/g)].map(([, path = ""]) => path);
assert.ok(asked.some((path) => path.endsWith(".js")));
for (const path of asked) assert.equal((await get(path)).status, 200, path);
await app.stop();
console.log(`${asked.length} files of the dashboard are served.`);
