/**
 * Characters that are invisible or change the appearance of their neighbors: control characters, direction marks,
 * zero-width characters, and spaces other than U+0020.
 */
const INVISIBLE = /(?! )[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}\u2800]/gu;

/** Escapes invisible characters as in JSON. */
export function escapeInvisible(text: string): string {
  return text.replaceAll(INVISIBLE, toUnicodeEscapes);
}

function toUnicodeEscapes(character: string): string {
  return character
    .split('')
    .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .join('');
}
