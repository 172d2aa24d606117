import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { bearerToken, createHandler, createWorkflows, defineWorkflow } from "everstep";
import { memory } from "everstep/memory";
import { sqlite } from "everstep/sqlite";
import { expect, onTestFinished, test } from "vitest";
import { listen, PortsTaken } from "../../packages/everstep/src/cli/host/dev/listen.ts";
import { Project } from "./command-line.ts";

const quick = defineWorkflow({ name: "quick" }, async () => 1);
const source =
  'import { defineWorkflow } from "everstep";\nexport const a = defineWorkflow({ name: "a" }, () => 1);';

const token = "of-this-start-and-no-other";
const noKill = (): void => {};

async function takenPort(wanted = 0): Promise<number> {
  const server = createServer().listen(wanted, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  return (server.address() as AddressInfo).port;
}

function devApp() {
  const app = createWorkflows({ workflows: { quick }, store: memory() });
  const library = { createWorkflows, createHandler, bearerToken, sqlite };
  return { app, storePath: null, library } as unknown as Parameters<typeof listen>[0];
}

test("a port that was asked for and is taken is refused", async () => {
  const project = new Project({ "workflows.ts": source }).install();
  const port = await takenPort();
  const { exitCode, text } = await project.run("dev", "--port", String(port));
  expect(exitCode).toBe(70);
  expect(text).toContain(`Port ${port} is taken by another program.\nChoose another one with --port`);
  expect(project.has(".everstep/dev.json")).toBe(false);
});

test("where no port was asked for and the usual one is taken, it says which it uses instead", async () => {
  // If somebody else has it, that is just as well.
  await takenPort(4610).catch(() => {});
  const project = new Project({ "workflows.ts": source }).install();
  const running = project.start("dev");
  const [, port] = await running.says(/Port 4610 is taken by another program; (\d+) is used instead\./);
  await running.says(new RegExp(`http://127\\.0\\.0\\.1:${port}/`));
});

test("of several ports the first that is free is taken", async () => {
  const port = await takenPort();
  const listening = await listen(devApp(), [port, 0], token, noKill);
  onTestFinished(() => listening.close());
  expect(listening.port).not.toBe(port);
  await expect(listen(devApp(), [port, port], token, noKill)).rejects.toThrow(PortsTaken);
});

test("SEC-6 it answers only under names of this machine, to who has its token, and no page of another site", async () => {
  const { url, port, close } = await listen(devApp(), [0], token, noKill);
  onTestFinished(() => close());
  const status = async (headers: Record<string, string>, at = url): Promise<number> =>
    (await fetch(new URL("workflows", at), { headers: { authorization: `Bearer ${token}`, ...headers } }))
      .status;
  expect(await status({})).toBe(200);
  expect(await status({}, `http://localhost:${port}/`).catch(() => 200)).toBe(200);
  expect(await status({ authorization: "" })).toBe(401);
  expect(await status({ origin: "https://evil.example" })).toBe(403);
  expect(await status({ "sec-fetch-site": "cross-site" })).toBe(403);
});
