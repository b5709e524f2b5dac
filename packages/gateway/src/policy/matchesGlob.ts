/** `*` for any text, `?` for one character. Goes back to the last `*` only, so no name makes it slow. */
export function matchesGlob(glob: string, text: string): boolean {
  let globIndex = 0;
  let textIndex = 0;
  let lastStar = -1;
  let retryIndex = 0;
  while (textIndex < text.length) {
    if (glob[globIndex] === '*') {
      lastStar = globIndex;
      retryIndex = textIndex;
      globIndex += 1;
    } else if (glob[globIndex] === '?' || (globIndex < glob.length && glob[globIndex] === text[textIndex])) {
      globIndex += 1;
      textIndex += 1;
    } else if (lastStar >= 0) {
      globIndex = lastStar + 1;
      retryIndex += 1;
      textIndex = retryIndex;
    } else return false;
  }
  while (glob[globIndex] === '*') globIndex += 1;
  return globIndex === glob.length;
}
