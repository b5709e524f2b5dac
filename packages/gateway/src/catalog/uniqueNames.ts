/**
 * Names for all of these, no two alike. Where two would have the same, neither keeps it: both take the next of theirs. The
 * outcome depends on the items alone, not on their order.
 */
export function assignUniqueNames<T>(
  items: readonly T[],
  nameAt: (item: T, level: number) => string,
  levels: number,
): Map<string, T> {
  const levelByItem = new Map(items.map((item) => [item, 0]));
  for (let round = 0; ; round += 1) {
    const byName = new Map<string, T[]>();
    for (const [item, level] of levelByItem) {
      const name = nameAt(item, level);
      const sameNamed = byName.get(name);
      if (sameNamed) sameNamed.push(item);
      else byName.set(name, [item]);
    }
    const clashes = [...byName.values()].filter((sameNamed) => sameNamed.length > 1).flat();
    // Beyond the last round it would take two equal hashes. Those would have no name.
    if (clashes.length === 0 || round >= levels) {
      return new Map(
        [...byName].flatMap(([name, sameNamed]) =>
          sameNamed.length === 1 ? [[name, sameNamed[0] as T]] : [],
        ),
      );
    }
    for (const item of clashes) levelByItem.set(item, (levelByItem.get(item) ?? 0) + 1);
  }
}
