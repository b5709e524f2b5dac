/**
 * What cannot be seen, or changes how its neighbours are seen: controls, signs that turn the direction of writing, signs
 * without width, spaces that are not the space, and whatever has no form of its own.
 */
const INVISIBLE = /(?! )[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}\u2800]/gu;

/** A text in which everything can be seen: the rest is spelled out, as JSON spells it. */
export function escapeInvisible(text: string): string {
  return text.replaceAll(INVISIBLE, toUnicodeEscapes);
}

function toUnicodeEscapes(character: string): string {
  return character
    .split('')
    .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .join('');
}
