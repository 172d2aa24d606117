/** The browser that services.mjs found or installed, for tests, measurements and pictures. */
import { type Browser, chromium } from "playwright-core";

/** Only the last such list counts for Chromium, so it has what Playwright's own list is there for as well. */
const features = [
  // Two pages that Chromium keeps ready behind its address bar for every window, which nobody ever sees.
  "WebUIOmniboxPopup",
  "WebUIOmniboxAimPopup",
  // A picture shows what is there now.
  "PaintHolding",
  // Requests go where they are sent, and closing a page asks nobody.
  "HttpsUpgrades",
  "HttpsFirstBalancedModeAutoEnable",
  "AvoidCorsURLLoaderRestartOnRedirect",
  "AvoidUnnecessaryBeforeUnloadCheckSync",
  "DestroyProfileOnBrowserClose",
  "ThirdPartyStoragePartitioning",
  // Nothing is asked of the network that the page does not ask.
  "AimEnabled",
  "LensOverlay",
  "MediaRouter",
  "NetworkTimeServiceQuerying",
  "OptimizationHints",
  "PreconnectToSearch",
];

export function launchChromium(): Promise<Browser> {
  const executablePath = process.env.EVERSTEP_CHROMIUM;
  if (!executablePath) {
    throw new Error(
      "EVERSTEP_CHROMIUM is not set. npm test and npm run screenshots find or install a browser and set it; " +
        "for other programs: node scripts/services.mjs --only chromium -- <command>",
    );
  }
  const isRoot = process.getuid?.() === 0;
  const args = [
    // Root has no sandbox, and containers have little shared memory.
    ...(isRoot ? ["--no-sandbox"] : []),
    "--disable-dev-shm-usage",
    "--disable-gpu",
    `--disable-features=${features.join(",")}`,
  ];
  return chromium.launch({ executablePath, headless: true, chromiumSandbox: !isRoot, args });
}
