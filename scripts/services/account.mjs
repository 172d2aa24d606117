// Database servers refuse to run as root, or should. Root starts them under the first of these accounts that
// exists; anybody else starts them as himself.
import { readFileSync } from "node:fs";
import { userInfo } from "node:os";

export function accountFor(names) {
  const [uid, gid] = [process.getuid(), process.getgid()];
  if (uid !== 0) return { user: ownName() ?? String(uid), uid, gid };

  const rows = readFileSync("/etc/passwd", "utf8").split("\n");
  const accounts = new Map(
    rows.map((row) => row.split(":")).map(([name, , id, group]) => [name, { id, group }]),
  );
  const user = names.find((name) => accounts.has(name));
  if (!user) throw new Error(`must not run as root, and there is no account ${names.join(" or ")}`);
  return { user, uid: Number(accounts.get(user).id), gid: Number(accounts.get(user).group) };
}

/** What `spawn` needs to start a process under an account. */
export function underAccount({ uid, gid }) {
  return process.getuid?.() === 0 ? { uid, gid } : {};
}

// In containers, a user may have a number alone.
function ownName() {
  try {
    return userInfo().username;
  } catch {
    return undefined;
  }
}
