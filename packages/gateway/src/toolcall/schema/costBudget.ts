/**
 * The cost limit of one validation. A short schema with nested branches can require an exponential number of evaluations,
 * depending on the arguments, so static analysis cannot bound it. Each subschema charges its evaluation to the budget, and the
 * validation ends when the budget is used up. A unit is about 10 to 100 ns.
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
  /** Temporary: the server has used up its compile time. */
  | 'compiler_busy';

/** The schema cannot be checked safely. The tool stays usable, and the server validates the arguments. */
export class UncheckableSchemaError extends Error {
  override readonly name = 'Uncheckable';
  readonly reason: UncheckableReason;
  constructor(reason: UncheckableReason, options?: ErrorOptions) {
    super(`This schema cannot be checked: ${reason}`, options);
    this.reason = reason;
  }
}
