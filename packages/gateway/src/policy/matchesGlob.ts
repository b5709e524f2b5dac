/** `*` for any text, `?` for one character. Goes back to the last `*` only, so no name makes it slow. */
export function matchesGlob(glob: string, text: string): boolean {
  let g = 0;
  let t = 0;
  let star = -1;
  let mark = 0;
  while (t < text.length) {
    if (glob[g] === '*') {
      star = g;
      mark = t;
      g += 1;
    } else if (glob[g] === '?' || (g < glob.length && glob[g] === text[t])) {
      g += 1;
      t += 1;
    } else if (star >= 0) {
      g = star + 1;
      mark += 1;
      t = mark;
    } else return false;
  }
  while (glob[g] === '*') g += 1;
  return g === glob.length;
}
