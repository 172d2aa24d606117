/** The browser that services.mjs found or installed, for tests, measurements and pictures. */
import { type Browser, chromium } from "playwright-core";

export function launchChromium(): Promise<Browser> {
  const executablePath = process.env.EVERSTEP_CHROMIUM;
  if (!executablePath) {
    throw new Error(
      "EVERSTEP_CHROMIUM is not set. npm test and npm run screenshots find or install a browser and set it; " +
        "for other programs: node scripts/services.mjs --only chromium -- <command>",
    );
  }
  const isRoot = process.getuid?.() === 0;
  // Root has no sandbox, and containers have little shared memory.
  const args = ["--disable-dev-shm-usage", "--disable-gpu", ...(isRoot ? ["--no-sandbox"] : [])];
  return chromium.launch({ executablePath, headless: true, chromiumSandbox: !isRoot, args });
}
