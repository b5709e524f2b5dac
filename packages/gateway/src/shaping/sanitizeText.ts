/** What breaks a line somewhere, whatever it is called. */
const LINE_BREAKS = /\r\n|[\r\v\f\u0085\u2028\u2029]/g;
/** What nobody sees: control characters, marks that turn the direction, tags. Joiners are part of words in some scripts. */
const INVISIBLE_CHARACTERS = /(?![\n\t\u200c\u200d])[\p{Cc}\p{Cf}]/gu;

/** A text that a server chose, as it can be shown and read: lines of what can be seen, and nothing hidden between it. */
export function sanitizeText(text: string): string {
  const visible = text.replace(LINE_BREAKS, '\n').replace(INVISIBLE_CHARACTERS, '');
  return visible.replace(/\n{3,}/g, '\n\n').trim();
}

/** The beginning of a text, as a copy: a part of a string keeps the whole of it in memory. Half a character is none. */
export function truncateText(text: string, maxLength: number): string {
  return Buffer.from(text.slice(0, maxLength))
    .toString()
    .replace(/\ufffd$/, '');
}
