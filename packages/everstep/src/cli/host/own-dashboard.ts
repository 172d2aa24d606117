/** The dashboard that is part of this program. */
import type { Dashboard } from "../../index.ts";

/** What to say where it is not there. */
export const notBuilt =
  "The dashboard is not built, so it is left out. Build it, and start again: npm run build -w everstep-dashboard";

/** null in a clone of the repository where nobody has built it yet. */
export async function ownDashboard(): Promise<Dashboard | null> {
  try {
    return (await import("../../dashboard/index.ts")).dashboard;
  } catch (error) {
    if ((error as { readonly code?: unknown }).code === "ERR_MODULE_NOT_FOUND") return null;
    throw error;
  }
}
