/** What `npm run build` writes to dist/files.js: the whole page, to be served from memory. */
export interface DashboardFile {
  /** Under the dashboard's own address: "index.html", "assets/index-Dx3k.js". */
  readonly path: string;
  /** Its content type. */
  readonly type: string;
  /** Its bytes, compressed with gzip, as base64. */
  readonly gzip: string;
  /** Its name changes with its content, so it may be kept for ever. */
  readonly isHashed: boolean;
}

export declare const files: readonly DashboardFile[];
