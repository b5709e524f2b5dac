import { UncheckableSchemaError } from './uncheckableSchemaError.ts';

/**
 * What one check may cost. A schema of a few lines can ask for two to the power of its length evaluations (branches
 * that refer to branches), and no look at the schema alone tells whether the arguments will make it so. So every part
 * pays as it is evaluated, and a check that runs out ends. A unit stands for some 10 to 100 ns.
 */
export interface CostBudget {
  remaining: number;
}

export function chargeCost(costBudget: CostBudget, units: number): void {
  costBudget.remaining -= units;
  if (costBudget.remaining < 0) throw new UncheckableSchemaError('too_costly');
}
