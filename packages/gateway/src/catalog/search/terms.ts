import { stem } from './stem.ts';

/** Longer ones are no words that anybody looks for. */
const MAX_TERM_LENGTH = 32;

/** Capitals with a plural, capitals before a word, a word, capitals, digits, and letters that know no case. */
const WORD_PARTS =
  /\p{Lu}{2,}s(?!\p{L})|\p{Lu}+(?=\p{Lu}\p{Ll})|\p{Lu}?\p{Ll}+\p{N}*|\p{Lu}+\p{N}*|\p{N}+|\p{Lo}+/gu;
const WORDS = /[\p{L}\p{N}]+/gu;
/** `PROJ-12`, `#12`, `12`: what somebody means there, and no word about a tool. */
const ISSUE_KEYS = /\b\p{Lu}[\p{Lu}\p{N}]+-\d+\b|(?<![\p{L}\p{N}])#?\d+(?![\p{L}\p{N}])/gu;
const ASCII = /^[\0-\x7f]*$/;

/**
 * The words of a text as they are compared: `createPullRequest`, `create_pull_request` and "creating pull requests" are the
 * same. A word of two parts is also itself: "GitHub" is found by "github".
 */
export function extractTerms(text: string): string[] {
  const terms: string[] = [];
  for (const [word] of removeAccents(text).matchAll(WORDS)) {
    const parts = word.match(WORD_PARTS) ?? [];
    for (const part of parts) terms.push(toTerm(part));
    if (parts.length === 2) terms.push(toTerm(word));
  }
  return terms;
}

/** The same of what somebody asks: without the words that every question has, unless it has no others. */
export function extractQueryTerms(query: string): string[] {
  const allTerms = extractTerms(query.replaceAll(ISSUE_KEYS, ' '));
  const significant = allTerms.filter((term) => !stopWords.has(term));
  return [...new Set(significant.length > 0 ? significant : allTerms)];
}

function toTerm(part: string): string {
  return stem(part.toLowerCase().slice(0, MAX_TERM_LENGTH));
}

/** Without accents: people leave them out. A letter is three at most that way; a few signs are eighteen. */
function removeAccents(text: string): string {
  if (ASCII.test(text)) return text;
  return text
    .normalize('NFKD')
    .slice(0, 3 * text.length)
    .replaceAll(/\p{M}/gu, '');
}

/** They are rare in descriptions and would count as telling there. Also what an apostrophe leaves over. */
const stopWords: ReadonlySet<string> = new Set(
  (
    'a an the and or but not no nor of to in on at by for from with without about into onto over under as than then so if ' +
    'i me my mine we us our you your he him his she her it its they them their this that these those ' +
    'what which who whom whose when where why how is are was were be been being am do does did doing done have has had having ' +
    'can could would should will shall may might must please want wants need needs like would let just now right there here ' +
    'some any all both each every either much many more most other others else one ones such only also too very still again once ' +
    'tell know say see go use using help try able way thing something somebody someone nobody everybody s t d ll re ve m'
  )
    .split(' ')
    .map(stem),
);
