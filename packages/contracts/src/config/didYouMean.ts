/** Ignores case and separators. */
function normalize(word: string): string {
  return word.toLowerCase().replaceAll(/[_\-. ]/g, '');
}

/** Edit distance in which a swap of two adjacent letters is one edit (optimal string alignment). */
function editDistance(a: string, b: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i += 1) {
    const row = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const same = a[i - 1] === b[j - 1];
      let cost = Math.min(
        valueAt(last, j) + 1,
        valueAt(row, j - 1) + 1,
        valueAt(last, j - 1) + (same ? 0 : 1),
      );
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) {
        cost = Math.min(cost, valueAt(beforeLast, j - 2) + 1);
      }
      row.push(cost);
    }
    beforeLast = last;
    last = row;
  }
  return valueAt(last, b.length);
}

function valueAt(row: readonly number[], index: number): number {
  return row[index] ?? Number.MAX_SAFE_INTEGER;
}

/** The known word that was probably meant; undefined if none is similar enough. */
export function findNearest(word: string, known: readonly string[]): string | undefined {
  // No known word is this long. Skip the comparison with large pasted texts.
  if (word.length > 80) return undefined;
  const folded = normalize(word);
  let best: { name: string; cost: number } | undefined;
  for (const name of known) {
    const other = normalize(name);
    const limit = Math.max(1, Math.floor(Math.min(folded.length, other.length) / 3));
    // The difference in length is a lower bound of the distance. It excludes most words cheaply.
    if (Math.abs(folded.length - other.length) > limit) continue;
    const cost = folded === other ? 0 : editDistance(folded, other);
    if (cost <= limit && (!best || cost < best.cost)) best = { name, cost };
  }
  return best?.name;
}

/** The end of a message: `did you mean "requiresOAuth"?` */
export function didYouMean(word: string, known: readonly string[]): string | undefined {
  const name = findNearest(word, known);
  return name === undefined ? undefined : `did you mean "${name}"?`;
}
