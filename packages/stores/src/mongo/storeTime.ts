/**
 * Expressions over the clock of the server. The clocks of replicas differ: a record that is expired for one may
 * be in use by another. `$$NOW` is one instant per command on the primary, so all replicas agree.
 */
const NOW = '$$NOW';

export function fromNow(ms: number): object {
  return { $add: [NOW, ms] };
}

/** The same as milliseconds since the epoch, as in records. */
export const nowMs = { $subtract: [NOW, new Date(0)] };

export function msFromNow(ms: number): object {
  return { $add: [nowMs, ms] };
}

/**
 * True while the date in `field` is in the future. A missing date compares as smaller than any date, so it
 * counts as expired.
 */
export function buildInFutureExpression(field: string): object {
  return { $gt: [field, NOW] };
}

/** The same for a field with milliseconds since the epoch. */
export function buildInFutureMsExpression(field: string): object {
  return { $gt: [{ $add: [new Date(0), field] }, NOW] };
}

/**
 * An external value inside a pipeline. Without `$literal`, text that starts with `$` would be read as a field.
 */
export function literal(value: unknown): object {
  return { $literal: value };
}
