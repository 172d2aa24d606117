/** Does it for each of them, a few at a time. After the first failure no other is begun. */
export async function eachOf<Item>(
  items: Iterable<Item>,
  width: number,
  act: (item: Item) => Promise<void>,
): Promise<void> {
  const left = items[Symbol.iterator]();
  let failed = false;
  const lane = async (): Promise<void> => {
    for (let next = left.next(); !next.done && !failed; next = left.next()) {
      await act(next.value).catch((problem: unknown) => {
        failed = true;
        throw problem;
      });
    }
  };
  await Promise.all(Array.from({ length: width }, lane));
}
