import { isIPv4 } from "node:net";

/** An address that no other machine can reach. */
export function isLoopback(address: string): boolean {
  const plain = address.toLowerCase().replace(/^::ffff:/, "");
  return plain === "::1" || (isIPv4(plain) && plain.startsWith("127."));
}

/** An address that means all of this machine's. */
export function isWildcard(address: string): boolean {
  return address === "0.0.0.0" || address === "::";
}
