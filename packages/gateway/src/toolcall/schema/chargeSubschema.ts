import { _, type KeywordCxt } from 'ajv';
import { chargeCost, type CostBudget } from './costBudget.ts';

/** Keywords whose cost grows with the value, beside the parts inside, which pay for themselves one by one. */
const costByKeys = [
  'additionalProperties',
  'unevaluatedProperties',
  'propertyNames',
  'minProperties',
  'maxProperties',
];
const costByLength = ['minLength', 'maxLength', 'enum', 'const'];
const costByItems = ['items', 'contains', 'unevaluatedItems'];

/**
 * Writes the payment for one evaluation of one part into its code. `alwaysChargeKeys`: where what was evaluated is remembered,
 * every part copies the names that the parts inside it saw.
 */
export function chargeSubschema(
  { gen, data, parentSchema, schema }: KeywordCxt,
  costBudget: CostBudget,
  alwaysChargeKeys: boolean,
) {
  const subschema = parentSchema as Readonly<Record<string, unknown>>;
  const budgetCode = gen.scopeValue('obj', { ref: costBudget });
  const functionCode = (ref: (costBudget: CostBudget, value: never) => void) =>
    gen.scopeValue('func', { ref });
  const hasKeyword = (names: readonly string[]) => names.some((name) => name in subschema);
  gen.code(_`${functionCode(chargeCost)}(${budgetCode}, ${schema as number})`);
  if (hasKeyword(costByLength)) gen.code(_`${functionCode(chargeText)}(${budgetCode}, ${data})`);
  if (alwaysChargeKeys || hasKeyword(costByKeys))
    gen.code(_`${functionCode(chargeKeys)}(${budgetCode}, ${data})`);
  // A part that is just `true` or `false` pays nothing itself, however many items it is tried on.
  if (costByItems.some((name) => typeof subschema[name] === 'boolean')) {
    gen.code(_`${functionCode(chargeItems)}(${budgetCode}, ${data})`);
  }
}

function chargeText(costBudget: CostBudget, value: unknown): void {
  if (typeof value === 'string') chargeCost(costBudget, value.length >> 5);
}

/** With their length: the path to each is written out when it is evaluated. */
function chargeKeys(costBudget: CostBudget, value: unknown): void {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return;
  let units = 0;
  for (const key in value) units += 1 + (key.length >> 5);
  chargeCost(costBudget, units);
}

function chargeItems(costBudget: CostBudget, value: unknown): void {
  if (Array.isArray(value)) chargeCost(costBudget, value.length);
}
