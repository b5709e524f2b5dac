export const bannedWords: ReadonlyMap<string, string>;
export const bannedNames: ReadonlyMap<string, string>;
export const bannedPhrases: readonly (readonly [RegExp, string])[];
export function adviceForName(name: string): string | undefined;
export function findPhrases(text: string): { phrase: string; index: number; advice: string }[];
