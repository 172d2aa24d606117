/** "everstep/dashboard": the dashboard for `http: { dashboard }`. */
import { files } from "everstep-dashboard";
import type { Dashboard } from "../http/dashboard/dashboard.ts";

export type { Dashboard, DashboardFile } from "../http/dashboard/dashboard.ts";

export const dashboard: Dashboard = { files };
