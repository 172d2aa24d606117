/** What something took: time that passed, and processor time of the whole process, all threads. */
export interface Taken {
  readonly ms: number;
  readonly cpuUs: number;
}

export async function timed(act: () => unknown): Promise<Taken> {
  const cpu = process.cpuUsage();
  const start = performance.now();
  await act();
  const ms = performance.now() - start;
  const { user, system } = process.cpuUsage(cpu);
  return { ms, cpuUs: user + system };
}

/** The same act again and again, one at a time; milliseconds of each. */
export async function timedEach(count: number, act: (n: number) => unknown): Promise<number[]> {
  const samples: number[] = [];
  for (let n = 0; n < count; n++) {
    const start = performance.now();
    await act(n);
    samples.push(performance.now() - start);
  }
  return samples;
}
