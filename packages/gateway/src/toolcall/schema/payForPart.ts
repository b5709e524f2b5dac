import { _, type KeywordCxt } from 'ajv';
import { burn, type Fuel } from './fuel.ts';

/** Keywords whose cost grows with the value, beside the parts inside, which pay for themselves one by one. */
const byKeys = [
  'additionalProperties',
  'unevaluatedProperties',
  'propertyNames',
  'minProperties',
  'maxProperties',
];
const byLength = ['minLength', 'maxLength', 'enum', 'const'];
const byItems = ['items', 'contains', 'unevaluatedItems'];

/**
 * Writes the payment for one evaluation of one part into its code. `keysAlways`: where what was evaluated is remembered,
 * every part copies the names that the parts inside it saw.
 */
export function payForPart({ gen, data, parentSchema, schema }: KeywordCxt, fuel: Fuel, keysAlways: boolean) {
  const part = parentSchema as Readonly<Record<string, unknown>>;
  const tank = gen.scopeValue('obj', { ref: fuel });
  const call = (ref: (fuel: Fuel, value: never) => void) => gen.scopeValue('func', { ref });
  const has = (names: readonly string[]) => names.some((name) => name in part);
  gen.code(_`${call(burn)}(${tank}, ${schema as number})`);
  if (has(byLength)) gen.code(_`${call(payText)}(${tank}, ${data})`);
  if (keysAlways || has(byKeys)) gen.code(_`${call(payKeys)}(${tank}, ${data})`);
  // A part that is just `true` or `false` pays nothing itself, however many items it is tried on.
  if (byItems.some((name) => typeof part[name] === 'boolean')) {
    gen.code(_`${call(payItems)}(${tank}, ${data})`);
  }
}

function payText(fuel: Fuel, value: unknown): void {
  if (typeof value === 'string') burn(fuel, value.length >> 5);
}

/** With their length: the path to each is written out when it is evaluated. */
function payKeys(fuel: Fuel, value: unknown): void {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return;
  let units = 0;
  for (const key in value) units += 1 + (key.length >> 5);
  burn(fuel, units);
}

function payItems(fuel: Fuel, value: unknown): void {
  if (Array.isArray(value)) burn(fuel, value.length);
}
