/** Where things are, whatever the page is mounted under. */

/** The dashboard's own path, without a slash at its end. */
export const basePath = new URL(document.baseURI).pathname.replace(/\/$/, "");

/** Under which the API is mounted. */
export const apiUrl = new URL("../", document.baseURI).href;
