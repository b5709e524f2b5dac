/** Spellings that differ in case and separators alone are one word to a reader. */
function fold(word: string): string {
  return word.toLowerCase().replaceAll(/[_\-. ]/g, '');
}

/** Edit distance in which swapping two neighbours is one edit (optimal string alignment). */
function distance(a: string, b: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i += 1) {
    const row = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const same = a[i - 1] === b[j - 1];
      let cost = Math.min(at(last, j) + 1, at(row, j - 1) + 1, at(last, j - 1) + (same ? 0 : 1));
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) {
        cost = Math.min(cost, at(beforeLast, j - 2) + 1);
      }
      row.push(cost);
    }
    beforeLast = last;
    last = row;
  }
  return at(last, b.length);
}

function at(row: readonly number[], index: number): number {
  return row[index] ?? Number.MAX_SAFE_INTEGER;
}

/** The known word that was probably meant, or nothing when none is near enough to be worth saying. */
export function nearest(word: string, known: readonly string[]): string | undefined {
  // Nothing we know is longer; comparing a whole pasted document with every key would only cost time.
  if (word.length > 80) return undefined;
  const folded = fold(word);
  let best: { name: string; cost: number } | undefined;
  for (const name of known) {
    const other = fold(name);
    const limit = Math.max(1, Math.floor(Math.min(folded.length, other.length) / 3));
    // Each letter of the difference is an edit: most words of a file full of mistakes need no closer look.
    if (Math.abs(folded.length - other.length) > limit) continue;
    const cost = folded === other ? 0 : distance(folded, other);
    if (cost <= limit && (!best || cost < best.cost)) best = { name, cost };
  }
  return best?.name;
}

/** The end of a sentence: `did you mean "requiresOAuth"?` */
export function didYouMean(word: string, known: readonly string[]): string | undefined {
  const name = nearest(word, known);
  return name === undefined ? undefined : `did you mean "${name}"?`;
}
