/** Forms that no rule finds, of verbs that people say to tools. */
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

/**
 * Takes plurals and the endings of verbs off, and no more than that: a stem is only compared with other stems, and what is cut
 * too short would meet words that have nothing to do with it. Of English; other words mostly pass as they are.
 */
export function stem(word: string): string {
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

/** `running` and `runs`, `calling` and `calls`: a consonant that was doubled for the ending goes with it. */
function removeEnding(word: string, ending: string): string | undefined {
  if (!word.endsWith(ending) || word.length - ending.length < 3) return undefined;
  const base = word.slice(0, -ending.length);
  if (!/[aeiouy]/.test(base)) return undefined;
  return /([bdfgmnprt])\1$/.test(base) ? base.slice(0, -1) : base;
}
