/** What a terminal takes for a command, and what turns the direction of a text around. */
const CONTROLS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;
const UNSAFE_IN_JSON = /[\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/** A text of somebody else, as a terminal may show it: servers and their tools choose their own words. */
export function stripControls(text: string): string {
  return text.replace(CONTROLS, '');
}

/** The same in one line. */
export function toCleanLine(text: string): string {
  return stripControls(text).replace(/\s+/g, ' ').trim();
}

/** One document. What a terminal would act upon is written as JSON can also write it. */
export function formatJson(value: unknown): string {
  const escaped = JSON.stringify(value, null, 2).replace(
    UNSAFE_IN_JSON,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
  return `${escaped}\n`;
}
