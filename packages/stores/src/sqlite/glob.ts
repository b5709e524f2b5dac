/**
 * A pattern for whatever contains the text, in any case. LIKE knows the case of ASCII letters alone; a GLOB that names
 * both forms of each letter knows it of all. What a pattern would read as its own stands in brackets.
 */
export function anyCaseGlob(text: string): string {
  const characters = Array.from(text).map((character) => {
    const forms = [...new Set([character, character.toLowerCase(), character.toUpperCase()])];
    // Some have several letters for a capital, as ß has: no single place in a pattern can name those.
    const single = forms.filter((form) => Array.from(form).length === 1);
    return single.length > 1 || '*?['.includes(character) ? `[${single.join('')}]` : character;
  });
  return `*${characters.join('')}*`;
}
