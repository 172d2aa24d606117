/** Writes the pages as the package has them. */
export function writeDocs(folder: string): void;
