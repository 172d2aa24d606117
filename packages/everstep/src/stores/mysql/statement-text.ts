/** Reads an author's statement just far enough to tell what it would do to the transaction it runs in. */

/** The statement without comments and with every string and name in quotes emptied. What the server would run stays. */
export function bareText(sql: string): string {
  return sql.replace(hidden, (found) => {
    if (/^\/\*M?!\d*$/.test(found)) return " ";
    return found === "*/" ? " " : /^['"`]/.test(found) ? "''" : " ";
  });
}

export function isOneStatement(bare: string): boolean {
  return !/;\s*[^\s;]/.test(bare);
}

/**
 * Reads and writes of rows, and savepoints of one's own. Everything else may end the transaction (COMMIT, and every
 * CREATE, ALTER or TRUNCATE does so silently) or change the session that is used again afterwards.
 */
export function keepsTransaction(bare: string): boolean {
  return allowed.test(bare);
}

// A comment begins with two dashes and a space or control character: one that only JavaScript takes for a space begins none.
// In this order: strings and quoted names; comments that the server runs, begin and end; other comments.
const hidden =
  /'(?:[^'\\]|\\[\s\S]|'')*'|"(?:[^"\\]|\\[\s\S]|"")*"|`(?:[^`]|``)*`|\/\*M?!\d*|\/\*[\s\S]*?\*\/|\*\/|#[^\n]*|--(?![!-~\u0080-\uffff])[^\n]*/g;

const allowed =
  /^[\s(;]*(?:select|insert|update|delete|replace|with|values|table|call|do|show|desc|describe|explain|savepoint|release\s+savepoint|rollback\s+(?:work\s+)?to|(?:create|drop)\s+temporary)\b/i;
