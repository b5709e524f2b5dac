/** How many members and elements a value has at any depth. Looks at no more than one over `most`. */
export function countNodes(value: unknown, most: number): number {
  // Not by recursion: who made the value chose how deep it is.
  const left: unknown[] = [value];
  let seen = 0;
  while (left.length > 0) {
    const next = left.pop();
    if (typeof next !== 'object' || next === null) continue;
    for (const child of Object.values(next)) {
      seen += 1;
      if (seen > most) return seen;
      left.push(child);
    }
  }
  return seen;
}
