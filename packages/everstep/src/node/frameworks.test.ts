/** Inside of other servers: what they do to a request before must not be noticed. */
import { once } from "node:events";
import type { Server } from "node:http";
import { connect, createServer } from "node:http2";
import type { AddressInfo } from "node:net";
import express from "express";
import fastify from "fastify";
import { afterEach, describe, expect, test } from "vitest";
import { type NodeHandler, toNodeHandler } from "./index.ts";

const closing: (() => unknown)[] = [];

afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

/** Tells what came in. */
const echo = toNodeHandler(async (request) =>
  Response.json({
    path: new URL(request.url).pathname,
    query: new URL(request.url).search,
    length: request.headers.get("content-length"),
    body: await request.text(),
  }),
);

async function listening(app: express.Express): Promise<string> {
  const server: Server = app.listen(0, "127.0.0.1");
  closing.push(() => {
    server.closeAllConnections();
    server.close();
  });
  await once(server, "listening");
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function post(url: string, body: string, type = "application/json"): Promise<unknown> {
  return fetch(url, { method: "POST", headers: { "content-type": type }, body }).then((response) =>
    response.json(),
  );
}

const text = '{ "params": {"a": 1} }';

describe("Express", () => {
  test("takes the mount path off the URL, and the handler sees it all the same", async () => {
    const app = express();
    app.use("/api", echo);
    const url = await listening(app);
    expect(await post(`${url}/api/workflows?x=1`, text)).toEqual({
      path: "/api/workflows",
      query: "?x=1",
      length: String(text.length),
      body: text,
    });
  });

  test.each([
    ["json", express.json(), '{"params":{"a":1}}'],
    ["raw", express.raw({ type: "*/*" }), text],
    ["text", express.text({ type: "*/*" }), text],
  ])("with a body parser (%s) before it gives the body again", async (_what, parser, expected) => {
    const app = express();
    app.use(parser);
    app.use("/api", echo);
    const url = await listening(app);
    expect(await post(`${url}/api`, text)).toMatchObject({ length: null, body: expected });
  });

  test("with a parser that leaves this body alone streams it", async () => {
    const app = express();
    app.use(express.json());
    app.use((request, _response, next) => {
      // As older versions do for whatever they did not parse.
      request.body ??= {};
      next();
    });
    app.use(echo);
    const url = await listening(app);
    expect(await post(url, "plain", "text/plain")).toMatchObject({ body: "plain" });
  });

  test("with a parser and no body", async () => {
    const app = express();
    app.use(express.json());
    app.use(echo);
    const url = await listening(app);
    expect(await (await fetch(url, { method: "POST" })).json()).toMatchObject({ body: "" });
    expect(await (await fetch(url)).json()).toMatchObject({ body: "" });
  });
});

test("Fastify's raw request and response", async () => {
  const app = fastify();
  closing.push(() => app.close());
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("*", (_request, _payload, done) => done(null));
  app.all("/api/*", async (request, reply) => {
    reply.hijack();
    await echo(request.raw, reply.raw);
  });
  const url = await app.listen({ port: 0, host: "127.0.0.1" });
  expect(await post(`${url}/api/workflows`, text)).toMatchObject({ path: "/api/workflows", body: text });
});

test("requests over HTTP/2", async () => {
  const server = createServer((request, response) => {
    const [plainRequest, plainResponse] = [request, response] as unknown as Parameters<NodeHandler>;
    void echo(plainRequest, plainResponse);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const session = connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  closing.push(() => {
    session.destroy();
    server.close();
  });
  const request = session.request({ ":method": "POST", ":path": "/api/x?y=1" });
  request.end(text);
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  expect(JSON.parse(Buffer.concat(chunks).toString())).toMatchObject({
    path: "/api/x",
    query: "?y=1",
    body: text,
  });
});
