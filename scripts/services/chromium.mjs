// Chromium, or Chrome where only that is installed. It is no server: tests start it themselves, so it is only found.
import { findProgram } from "./binaries.mjs";

const names = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];

export const chromium = {
  name: "chromium",
  title: "Chromium",
  variable: "EVERSTEP_CHROMIUM",
  packages: ["chromium", "fonts-liberation"],
  isOnlyFound: true,

  findBinaries() {
    const program = findProgram(names);
    return program && { program };
  },
};
