/** "everstep/node": an app on a port, or inside of any server for Node. */
export { type Served, type ServeOptions, serve } from "./serve.ts";
export {
  type NodeHandler,
  type NodeHandlerOptions,
  toNodeHandler,
  type WebHandler,
} from "./to-node-handler.ts";
