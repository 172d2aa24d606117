/** Stands where something will be, in about its size, so that nothing jumps when it comes. */
export function Bone({
  width = "100%",
  height,
}: {
  readonly width?: string | number;
  readonly height?: number;
}) {
  return <span className="bone" style={{ width, ...(height === undefined ? {} : { height }) }} />;
}

export function Bones({ rows, height = 16 }: { readonly rows: number; readonly height?: number }) {
  return (
    <div className="stack" aria-busy="true">
      <span className="for-readers">Loading</span>
      {Array.from({ length: rows }, (_, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: they are all alike
        <Bone key={at} width={`${90 - ((at * 17) % 40)}%`} height={height} />
      ))}
    </div>
  );
}
