/** The dashboard as the handler is given it: the files of a program that runs in browsers and uses the HTTP API. */

export interface DashboardFile {
  /** From the dashboard's own folder: `index.html`, `assets/index-4f2a.js`. */
  readonly path: string;
  readonly type: string;
  /** gzip, base64 */
  readonly gzip: string;
  /** Its name changes with its content, so it may be kept for ever. */
  readonly isHashed: boolean;
}

export interface Dashboard {
  readonly files: readonly DashboardFile[];
}
