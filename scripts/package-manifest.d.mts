export function publishedManifest(source: string): string;
