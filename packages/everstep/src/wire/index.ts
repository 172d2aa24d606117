/** What goes over the wire: each thing once, as a schema. Its types, sent and in the process, are inferred from that. */
export * from "./bodies.ts";
export * from "./history.ts";
export * from "./instances.ts";
export * from "./overview.ts";
export * from "./service.ts";
export * from "./steps.ts";
export * from "./workflows.ts";
