/** Where credentials go, and where they do not. */
import { execFileSync, spawnSync } from "node:child_process";
import { once } from "node:events";
import { chmodSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { ScriptedServer } from "../support/scripted-server.ts";
import { emptyFolder, everstep } from "./support/everstep.ts";

let server: ScriptedServer;
beforeEach(async () => {
  server = await ScriptedServer.open("/api/workflows");
});
afterEach(() => server.close());

const none = { json: { workflows: [] } };
const canary = "canary-7f3a9c51e2";

test.each([301, 302, 303, 307, 308])(
  "SEC-28: nothing follows a redirect with %i to another origin",
  async (status) => {
    const other = await ScriptedServer.open();
    const redirect = { status, headers: { location: `${other.url}/workflows` }, text: "" };
    server.script(redirect, redirect, redirect);
    const env = { EVERSTEP_TOKEN: canary };
    const words = ["--url", server.url, "--retries", "0", "-H", `X-Key: ${canary}`];
    const read = await everstep(["workflows", "list", ...words], { env });
    const write = await everstep(["instances", "create", "order", ...words], { env });
    const stream = await everstep(["instances", "logs", "order", "o-1", "--follow", ...words], { env });
    expect([read.code, write.code, stream.code]).toEqual([70, 70, 70]);
    expect(server.requests).toHaveLength(3);
    expect(other.requests).toEqual([]);
    expect(read.err + write.err + stream.err).not.toContain(canary);
    await other.close();
  },
);

test("SEC-28: no proxy is used that was not asked for", async () => {
  const proxy = await ScriptedServer.open();
  server.script(none);
  const env = {
    HTTP_PROXY: proxy.url,
    http_proxy: proxy.url,
    HTTPS_PROXY: proxy.url,
    ALL_PROXY: proxy.url,
  };
  const ran = await everstep(["workflows", "list", "--url", server.url], { env });
  expect(ran.code).toBe(0);
  expect(proxy.requests).toEqual([]);
  await proxy.close();
});

test("SEC-28: a config file with headers that others can read is warned of, and used", async () => {
  const cwd = emptyFolder();
  const file = join(cwd, "everstep.config.json");
  writeFileSync(file, JSON.stringify({ url: server.url, headers: { "X-Key": canary } }));
  chmodSync(file, 0o644);
  server.script(none);
  const ran = await everstep(["workflows", "list"], { cwd });
  expect(ran.code).toBe(0);
  expect(ran.err).toBe(
    `warning: ${file} has headers in it and can be read by other users of this machine: chmod 600 ${file}\n`,
  );
});

test("SEC-28: a token is not sent to a server that a file of the folder names", async () => {
  const cwd = emptyFolder();
  const file = join(cwd, "everstep.config.json");
  writeFileSync(file, JSON.stringify({ url: server.url }));
  const ran = await everstep(["workflows", "list"], { cwd, env: { EVERSTEP_TOKEN: canary } });
  expect([ran.code, server.requests]).toEqual([64, []]);
  expect(ran.err).toBe(
    `error: EVERSTEP_TOKEN was not sent to ${server.url}: ${file} names that server, not you.\n` +
      `If it is meant for it, name the server too: EVERSTEP_URL=${server.url} or --url ${server.url}, ` +
      'or as "url" in ~/.config/everstep/config.json.\n',
  );
  server.script(none);
  const named = await everstep(["workflows", "list", "--url", server.url], {
    cwd,
    env: { EVERSTEP_TOKEN: canary },
  });
  expect(named.code).toBe(0);
});

test("SEC-28: an exported history is written so that only its owner can read it", async () => {
  const cwd = emptyFolder();
  server.script({ json: { format: "everstep-history" } });
  await everstep(["instances", "export", "order", "o-1", "--url", server.url, "-o", "o-1.json"], { cwd });
  const { stdout } = spawnSync("stat", ["-c", "%a", join(cwd, "o-1.json")], { encoding: "utf8" });
  expect(stdout.trim()).toBe("600");
});

const hasOpenssl = spawnSync("openssl", ["version"]).status === 0;
test.skipIf(!hasOpenssl)(
  "SEC-28: a certificate that nobody vouches for is refused, and nothing is sent",
  async () => {
    const folder = emptyFolder();
    const { key, cert } = selfSigned(folder);
    let requests = 0;
    const tls = createServer({ key: readFileSync(key), cert: readFileSync(cert) }, (_, response) => {
      requests++;
      response.setHeader("content-type", "application/json").end(JSON.stringify({ workflows: [] }));
    });
    tls.listen(0, "127.0.0.1");
    await once(tls, "listening");
    const words = [
      "workflows",
      "list",
      "--url",
      `https://127.0.0.1:${(tls.address() as AddressInfo).port}`,
      "--retries",
      "0",
    ];
    const refused = await everstep(words, { env: { EVERSTEP_TOKEN: canary } });
    expect(refused).toMatchObject({ code: 70 });
    expect(requests).toBe(0);
    const vouched = await everstep(words, { env: { NODE_EXTRA_CA_CERTS: cert } });
    expect(vouched).toMatchObject({ code: 0 });
    tls.close();
    tls.closeAllConnections();
  },
);

function selfSigned(folder: string): { readonly key: string; readonly cert: string } {
  const [key, cert] = [join(folder, "key.pem"), join(folder, "cert.pem")];
  const kind = ["-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"];
  const names = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"];
  execFileSync("openssl", ["req", ...kind, ...names, "-keyout", key, "-out", cert], { stdio: "ignore" });
  return { key, cert };
}
