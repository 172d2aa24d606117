/** The token that is sent with every request. It is kept for this tab only, and never in an address. */
const key = "everstep.token";

/** One that a link brought while another is in use. */
let offered: string | null = null;

/** `show` puts another address into the bar: one that brought a token does not stay there. */
export function readToken(show: (address: string) => void): string | null {
  takeFromFragment(show);
  return sessionStorage.getItem(key);
}

export function keepToken(token: string | null): void {
  offered = null;
  if (token === null) sessionStorage.removeItem(key);
  else sessionStorage.setItem(key, token);
}

/** The token of a link that was followed, for when the one in use is refused: a server that was started anew has another. */
export function takeOffered(): string | null {
  const token = offered;
  offered = null;
  return token;
}

/**
 * A program that opens the page may hand a token over behind the #, which no server and no log ever sees. Anybody can write
 * such a link: it never replaces the token of who has signed in, who would go on under another name without a word.
 */
function takeFromFragment(show: (address: string) => void): void {
  const token = new URLSearchParams(location.hash.slice(1)).get("token");
  if (token === null) return;
  const known = sessionStorage.getItem(key);
  if (known === null) keepToken(token);
  else if (known !== token) offered = token;
  show(location.pathname + location.search);
}
