/** The token that is sent with every request. It is kept for this tab only, and never in an address. */
const key = "everstep.token";

export function readToken(): string | null {
  takeFromFragment();
  return sessionStorage.getItem(key);
}

export function keepToken(token: string | null): void {
  if (token === null) sessionStorage.removeItem(key);
  else sessionStorage.setItem(key, token);
}

/** A program that opens the page may hand a token over behind the #, which no server and no log ever sees. */
function takeFromFragment(): void {
  const token = new URLSearchParams(location.hash.slice(1)).get("token");
  if (token === null) return;
  keepToken(token);
  history.replaceState(history.state, "", location.pathname + location.search);
}
