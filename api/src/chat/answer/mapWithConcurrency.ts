/** Does the work for each, so many side by side, the others in their order as places become free. Results in order. */
export async function mapWithConcurrency<T, R>(
  items: readonly T[],
  limit: number,
  work: (item: T) => Promise<R>,
): Promise<R[]> {
  const results: R[] = [];
  const pending = [...items.entries()];
  const worker = async () => {
    for (let next = pending.shift(); next; next = pending.shift()) results[next[0]] = await work(next[1]);
  };
  await Promise.all(Array.from({ length: Math.min(limit, items.length) }, worker));
  return results;
}
