/** Whether whoever asks can unpack gzip, by its Accept-Encoding. */
export function acceptsGzip(header: string | null): boolean {
  const wishes = new Map(
    (header ?? "").split(",").map((wish) => {
      const [coding = "", ...terms] = wish.split(";").map((part) => part.trim().toLowerCase());
      return [coding, !terms.some((term) => /^q=0(\.0*)?$/.test(term))] as const;
    }),
  );
  return wishes.get("gzip") ?? wishes.get("x-gzip") ?? wishes.get("*") ?? false;
}
