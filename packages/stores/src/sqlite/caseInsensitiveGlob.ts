/**
 * A pattern for whatever contains the text, in any case. LIKE knows the case of ASCII letters alone; a GLOB that names
 * both forms of each letter knows it of all. What a pattern would read as its own stands in brackets.
 */
export function caseInsensitiveGlob(text: string): string {
  const characters = Array.from(text).map((character) => {
    const caseForms = [...new Set([character, character.toLowerCase(), character.toUpperCase()])];
    // Some have several letters for a capital, as ß has: no single place in a pattern can name those.
    const singleCharacters = caseForms.filter((form) => Array.from(form).length === 1);
    return singleCharacters.length > 1 || '*?['.includes(character)
      ? `[${singleCharacters.join('')}]`
      : character;
  });
  return `*${characters.join('')}*`;
}
