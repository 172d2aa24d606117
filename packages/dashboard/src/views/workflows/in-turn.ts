/** Asks for each, so many at once, and answers in their order. */
export async function inTurn<Item, Answer>(
  items: readonly Item[],
  atOnce: number,
  ask: (item: Item) => Promise<Answer>,
): Promise<readonly Answer[]> {
  const answers: Answer[] = [];
  const waiting = items.entries();
  const work = async (): Promise<void> => {
    for (const [at, item] of waiting) answers[at] = await ask(item);
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, items.length) }, work));
  return answers;
}
