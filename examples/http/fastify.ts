import { bearerToken, createWorkflows } from "everstep";
import { toNodeHandler } from "everstep/node";
import { sqlite } from "everstep/sqlite";
import Fastify from "fastify";
import { delivery, order } from "./shop.ts";

const app = createWorkflows({
  workflows: { ORDER: order, DELIVERY: delivery },
  store: sqlite("shop.db"),
  authorize: bearerToken(process.env.EVERSTEP_TOKEN),
  http: { basePath: "/api/workflows" },
});
await app.start();

const site = Fastify();
// #region mount
const handle = toNodeHandler(app); // made with http: { basePath: "/api/workflows" }
await site.register(async (scope) => {
  scope.removeAllContentTypeParsers();
  scope.addContentTypeParser("*", (_request, _body, done) => done(null)); // left unread, for handle
  scope.all("/api/workflows/*", async (request, reply) => {
    reply.hijack();
    await handle(request.raw, reply.raw);
  });
});
// #endregion mount
site.get("/", async () => "The shop is open.");

const address = await site.listen({ port: Number(process.env.PORT ?? 3000), host: "127.0.0.1" });
console.log(`${address}/api/workflows`);
