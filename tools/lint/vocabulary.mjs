// The words and phrases that `npm run lint` rejects, each with what to write instead. CONTRIBUTING.md, "Language".

/** Words that no identifier may contain, compared without case: `toldCallers` contains `told`. */
export const bannedWords = new Map(
  Object.entries({
    nobody: 'name the missing role, for example noSubscriber',
    somebody: 'name the role',
    everybody: 'name the group',
    whoever: 'name the role',
    whom: 'name the role',
    told: 'notified, reported or sent',
    heard: 'received or observed',
    hearable: 'use a verb: canSubscribe',
    anew: 'fresh or again',
    begun: 'started',
    lent: 'borrowed',
    purse: 'budget',
    scout: 'probe',
    scouts: 'probe',
    shelf: 'collection',
    setback: 'failure or backoff',
    setbacks: 'failures or backoff',
    spoilt: 'corrupted',
    vigil: 'name the timer or poll',
    calmly: 'coalesce or debounce',
    quietly: 'bestEffort',
    foresee: 'use has or expect',
    elsewhere: 'remote or other replica',
    misfortune: 'failure',
    wherever: 'name the place',
  }),
);

/** Whole identifiers and file names. */
export const bannedNames = new Map(
  Object.entries({
    asked: 'a noun: request, prompt',
    kept: 'stored or cached',
    taken: 'acquired, used',
    given: 'a noun: input, argument',
    gone: 'removed, expired or closed',
    standing: 'state, status or openStream',
    passage: 'request or permit',
    parking: 'suspendedCalls',
    parked: 'suspended',
    alone: 'withLease or exclusive',
    trail: 'auditContext',
    walk: 'context',
    judge: 'evaluate or validate',
    verdict: 'decision or result',
    mayHear: 'isAllowed',
    asksBack: 'inputRequired',
    upkeep: 'periodicTasks',
    closers: 'disposables',
    converse: 'sendRpc',
    believing: 'name the mechanism',
    bearing: 'withAuthorization',
    owning: 'replaceHeader',
    proving: 'withDpop',
    untilWord: 'waitForDecision',
    whyNotOffered: 'unavailableReason',
    couldSignIn: 'mayRequireOAuth',
    endOfTurn: 'batchedResponses',
    orphanPairs: 'pendingTokenWrites',
  }),
);

/** Phrases that no text may contain: strings of the product, comments and Markdown. */
export const bannedPhrases = [
  [/\b(nobody|somebody|whoever|whomever|everybody|whichever)\b/i, 'name the component or role'],
  [/\b(is|are|was|were|be|been|being|not|gets?|got) told\b/i, 'receives, is notified, returns or reports'],
  [/\b(is|are|was|were|be|been) heard\b|\bhears? (of|that|from)\b/i, 'receives or observes'],
  [/\b(of|for|by|to|from|with|on) who\b/i, 'name the caller, user or client'],
  [/\b(how|as) (it|each|they|things) stands?\b/i, 'state, status'],
  [/\bstands? (on|for|in|under|there|here|again)\b/i, 'is, depends on or has'],
  [/\bof (theirs|ours|its own|their own|our own)\b/i, "use the possessive: the user's, our"],
  [/^\s*(Who|Whatever) (is|was|are|were|has|may|can|cannot|must)\b/, 'start with the subject'],
  [/\b(without|beside|in place of) a word\b/i, 'silently'],
  [/\bin (its|their|our) own words\b/i, 'message'],
  [/\b(anew|thereby|therein|thereof|hereby|by and by|as it were|for want of)\b/i, 'plain word'],
  [/\bis (wanted|meant|vouched|lent|spared)\b/i, 'active verb with a subject'],
  [/\blook(s|ed)? at (it|them) again\b/i, 'checks again'],
];

/** Splits `toldCallers`, `TOLD_AT_ONCE` and `told-callers` into words. */
function wordsOf(name) {
  return name
    .replace(/([a-z\d])([A-Z])/g, '$1 $2')
    .split(/[^A-Za-z]+/)
    .filter((word) => word !== '');
}

/** The advice for an identifier or a file name that the list bans; undefined if it is fine. */
export function adviceForName(name) {
  const whole = bannedNames.get(name) ?? bannedNames.get(name.charAt(0).toLowerCase() + name.slice(1));
  if (whole !== undefined) return whole;
  for (const word of wordsOf(name)) {
    const advice = bannedWords.get(word.toLowerCase());
    if (advice !== undefined) return advice;
  }
  return undefined;
}

/** Each banned phrase in a text, with its position and advice. */
export function findPhrases(text) {
  const found = [];
  for (const [pattern, advice] of bannedPhrases) {
    const match = pattern.exec(text);
    if (match) found.push({ phrase: match[0].trim(), index: match.index, advice });
  }
  return found;
}
