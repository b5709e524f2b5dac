/** Forms that no rule finds, of verbs that people say to tools. */
const irregular: ReadonlyMap<string, string> = new Map(
  Object.entries({
    ...{
      spent: 'spend',
      sent: 'send',
      paid: 'pay',
      made: 'make',
      got: 'get',
      wrote: 'write',
      written: 'write',
    },
    ...{
      found: 'find',
      gave: 'give',
      given: 'give',
      took: 'take',
      taken: 'take',
      built: 'build',
      bought: 'buy',
    },
    ...{
      sold: 'sell',
      shown: 'show',
      held: 'hold',
      kept: 'keep',
      lost: 'lose',
      met: 'meet',
      ran: 'run',
      left: 'leave',
    },
    ...{
      broke: 'break',
      broken: 'break',
      chose: 'choose',
      chosen: 'choose',
      people: 'person',
      children: 'child',
    },
  }),
);

/**
 * Takes plurals and the endings of verbs off, and no more than that: a stem is only compared with other stems, and what is cut
 * too short would meet words that have nothing to do with it. Of English; other words mostly pass as they are.
 */
export function stem(word: string): string {
  const known = irregular.get(word);
  if (known !== undefined) return stem(known);
  if (word.length < 4) return word;
  const one = singular(word);
  const bare = withoutEnding(one, 'ing') ?? withoutEnding(one, 'ed') ?? one;
  return bare.length > 4 && bare.endsWith('e') ? bare.slice(0, -1) : bare;
}

function singular(word: string): string {
  if (!word.endsWith('s') || /(ss|us|is)$/.test(word)) return word;
  if (word.endsWith('ies') && word.length > 4) return `${word.slice(0, -3)}y`;
  if (/(sses|xes|ches|shes|zzes)$/.test(word)) return word.slice(0, -2);
  return word.slice(0, -1);
}

/** `running` and `runs`, `calling` and `calls`: a consonant that was doubled for the ending goes with it. */
function withoutEnding(word: string, ending: string): string | undefined {
  if (!word.endsWith(ending) || word.length - ending.length < 3) return undefined;
  const left = word.slice(0, -ending.length);
  if (!/[aeiouy]/.test(left)) return undefined;
  return /([bdfgmnprt])\1$/.test(left) ? left.slice(0, -1) : left;
}
