const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Whether a word seems to be there to be unguessable. Too many rather than too few. */
export function isRandomLooking(word: string): boolean {
  return word.length >= 40 || (word.length >= 20 && /[0-9]/.test(word) && /[A-Za-z]/.test(word));
}

export function isUuid(word: string): boolean {
  return UUID.test(word);
}
