/**
 * For processes that are killed: what Node has made of the sources it keeps for others only when a process ends by itself,
 * or says so. Some is loaded a moment later.
 */
import { flushCompileCache } from "node:module";

setImmediate(flushCompileCache);
setTimeout(flushCompileCache, 500).unref();
