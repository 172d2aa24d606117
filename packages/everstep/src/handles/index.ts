/** The handles that an app and a client of it share, with what they take and give. */
export type * from "./app-handle.ts";
export type * from "./instance-handle.ts";
export type * from "./options.ts";
export type * from "./views.ts";
export type * from "./workflow-handle.ts";
