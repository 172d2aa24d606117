/** Which Node this program needs. Loaded by any Node, so nothing in here is new. */

/** As `engines` in package.json has it. */
export const neededNode = "22.18";

/** What to say to somebody whose Node is older; null where it is not. */
export function oldNode(version: string): string | null {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  const [neededMajor = 0, neededMinor = 0] = neededNode.split(".").map(Number);
  if (major > neededMajor || (major === neededMajor && minor >= neededMinor)) return null;
  return (
    `error: everstep needs Node ${neededNode} or newer, and this is Node ${version}.\n` +
    "Install a newer one from https://nodejs.org, or with nvm: nvm install 24"
  );
}
