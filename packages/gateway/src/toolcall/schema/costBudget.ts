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

export type UncheckableReason =
  | 'not_a_schema'
  | 'too_large'
  | 'too_deep'
  | 'too_many_parts'
  | 'remote_reference'
  | 'unknown_reference'
  | 'pattern'
  | 'not_compilable'
  | 'too_costly'
  /** For now: the server has used up the time for compiling. */
  | 'compiler_busy';

/** A schema that no check is made with. The tool stays usable: its server judges the arguments itself. */
export class UncheckableSchemaError extends Error {
  override readonly name = 'Uncheckable';
  readonly reason: UncheckableReason;
  constructor(reason: UncheckableReason, options?: ErrorOptions) {
    super(`This schema cannot be checked: ${reason}`, options);
    this.reason = reason;
  }
}
