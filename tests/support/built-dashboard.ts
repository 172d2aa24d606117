/** Before the tests in tests/dashboard: the dashboard is built, if its sources have changed. */
import { ensureDashboard } from "../../scripts/dashboard.mjs";

export default function setup(): Promise<void> {
  return ensureDashboard();
}
