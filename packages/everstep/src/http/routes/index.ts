import type { Route } from "../route.ts";
import { eventRoutes } from "./events.ts";
import { instanceRoutes } from "./instances.ts";
import { managementRoutes } from "./management.ts";
import { overviewRoutes } from "./overview.ts";
import { serviceRoutes } from "./service.ts";
import { workflowRoutes } from "./workflows.ts";

/** Everything that is answered. The handler, the OpenAPI document and the tests go by this list. */
export const routes: readonly Route[] = [
  ...workflowRoutes,
  ...instanceRoutes,
  ...managementRoutes,
  ...eventRoutes,
  ...overviewRoutes,
  ...serviceRoutes,
];
