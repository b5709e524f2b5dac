/** How many members and elements a value has at any depth. Looks at no more than one over `most`. */
export function countNodes(value: unknown, limit: number): number {
  // Not by recursion: who made the value chose how deep it is.
  const pending: unknown[] = [value];
  let count = 0;
  while (pending.length > 0) {
    const next = pending.pop();
    if (typeof next !== 'object' || next === null) continue;
    for (const child of Object.values(next)) {
      count += 1;
      if (count > limit) return count;
      pending.push(child);
    }
  }
  return count;
}
