/**
 * A regular expression for whatever contains the text. What is no letter or digit is written by its number, a NUL too,
 * which must not stand in a pattern of MongoDB.
 */
export function escapeSearchPattern(text: string): string {
  return text.replace(
    /[\x00-\x2f\x3a-\x40\x5b-\x60\x7b-\x7f]/g,
    (character) => `\\x${character.charCodeAt(0).toString(16).padStart(2, '0')}`,
  );
}
