/** Irregular forms of words that are frequent in queries. */
const irregularForms: ReadonlyMap<string, string> = new Map([
  ['spent', 'spend'],
  ['sent', 'send'],
  ['paid', 'pay'],
  ['made', 'make'],
  ['got', 'get'],
  ['wrote', 'write'],
  ['written', 'write'],
  ['found', 'find'],
  ['gave', 'give'],
  ['given', 'give'],
  ['took', 'take'],
  ['taken', 'take'],
  ['built', 'build'],
  ['bought', 'buy'],
  ['sold', 'sell'],
  ['shown', 'show'],
  ['held', 'hold'],
  ['kept', 'keep'],
  ['lost', 'lose'],
  ['met', 'meet'],
  ['ran', 'run'],
  ['left', 'leave'],
  ['broke', 'break'],
  ['broken', 'break'],
  ['chose', 'choose'],
  ['chosen', 'choose'],
  ['people', 'person'],
  ['children', 'child'],
]);

/** A light English stemmer: removes plural and verb endings. A stronger one would merge unrelated words. */
function stem(word: string): string {
  const baseForm = irregularForms.get(word);
  if (baseForm !== undefined) return stem(baseForm);
  if (word.length < 4) return word;
  const singularForm = toSingular(word);
  const stripped = removeEnding(singularForm, 'ing') ?? removeEnding(singularForm, 'ed') ?? singularForm;
  return stripped.length > 4 && stripped.endsWith('e') ? stripped.slice(0, -1) : stripped;
}

function toSingular(word: string): string {
  if (!word.endsWith('s') || /(ss|us|is)$/.test(word)) return word;
  if (word.endsWith('ies') && word.length > 4) return `${word.slice(0, -3)}y`;
  if (/(sses|xes|ches|shes|zzes)$/.test(word)) return word.slice(0, -2);
  return word.slice(0, -1);
}

/** Removes the ending and a doubled consonant before it: `running` and `runs` have the same stem. */
function removeEnding(word: string, ending: string): string | undefined {
  if (!word.endsWith(ending) || word.length - ending.length < 3) return undefined;
  const base = word.slice(0, -ending.length);
  if (!/[aeiouy]/.test(base)) return undefined;
  return /([bdfgmnprt])\1$/.test(base) ? base.slice(0, -1) : base;
}

/** Synonyms of the verbs in most tool names. Synonyms of nouns depend on the server, so there are none. */
const synonymGroups: readonly (readonly string[])[] = [
  ['create', 'add', 'new', 'make', 'open', 'insert'],
  ['delete', 'remove', 'erase', 'drop'],
  ['update', 'change', 'edit', 'modify', 'set'],
  ['list', 'show', 'get', 'read', 'view', 'fetch', 'describe'],
  ['search', 'find', 'look', 'query', 'lookup'],
  ['send', 'post', 'write'],
  ['start', 'run', 'launch', 'trigger'],
  ['stop', 'end', 'cancel', 'terminate', 'kill'],
  ['restart', 'reboot'],
];

const synonymsByStem = new Map<string, readonly string[]>();
for (const group of synonymGroups) {
  const stems = group.map(stem);
  for (const stemmed of stems)
    synonymsByStem.set(
      stemmed,
      stems.filter((candidate) => candidate !== stemmed),
    );
}

export function synonymsOf(term: string): readonly string[] {
  return synonymsByStem.get(term) ?? [];
}

const MAX_TERM_LENGTH = 32;

/** Parts of identifiers: acronyms with a plural s, acronyms, capitalized words, digits, and letters without case. */
const WORD_PARTS =
  /\p{Lu}{2,}s(?!\p{L})|\p{Lu}+(?=\p{Lu}\p{Ll})|\p{Lu}?\p{Ll}+\p{N}*|\p{Lu}+\p{N}*|\p{N}+|\p{Lo}+/gu;
const WORDS = /[\p{L}\p{N}]+/gu;
/** `PROJ-12`, `#12`, `12`: references to items, which do not describe a tool. */
const ISSUE_KEYS = /\b\p{Lu}[\p{Lu}\p{N}]+-\d+\b|(?<![\p{L}\p{N}])#?\d+(?![\p{L}\p{N}])/gu;
const ASCII = /^[\0-\x7f]*$/;

/**
 * The terms of a text: `createPullRequest`, `create_pull_request` and "creating pull requests" have the same terms. A word of two
 * parts is also one term, so "github" matches "GitHub".
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

/** The terms of a query, without stop words unless it has only stop words. */
export function extractQueryTerms(query: string): string[] {
  const allTerms = extractTerms(query.replaceAll(ISSUE_KEYS, ' '));
  const significant = allTerms.filter((term) => !stopWords.has(term));
  return [...new Set(significant.length > 0 ? significant : allTerms)];
}

function toTerm(part: string): string {
  return stem(part.toLowerCase().slice(0, MAX_TERM_LENGTH));
}

/** Removes accents. NFKD expands some characters to 18, so the result is limited to three per character. */
function removeAccents(text: string): string {
  if (ASCII.test(text)) return text;
  return text
    .normalize('NFKD')
    .slice(0, 3 * text.length)
    .replaceAll(/\p{M}/gu, '');
}

/** These words are rare in descriptions, so BM25 would weight them highly. Includes the remainders of contractions. */
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
