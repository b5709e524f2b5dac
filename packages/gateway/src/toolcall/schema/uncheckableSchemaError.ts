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
