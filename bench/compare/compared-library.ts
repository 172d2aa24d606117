/** One library of a comparison, as the report tells of it. */
export interface ComparedLibrary {
  readonly name: string;
  readonly title: string;
  readonly version: string;
  readonly settings: string;
  /** What has to be known to read its figures, and what it could not do. */
  readonly notes: string;
}
