/**
 * Expressions over the server's own clock. Replicas' clocks differ; what one of them believes to be over, another may
 * still be using. `$$NOW` is one instant per command on the one primary, so all of them agree.
 */
const NOW = '$$NOW';

export function fromNow(ms: number): object {
  return { $add: [NOW, ms] };
}

/** The same as milliseconds since the epoch: as records have it. */
export const nowMs = { $subtract: [NOW, new Date(0)] };

export function msFromNow(ms: number): object {
  return { $add: [nowMs, ms] };
}

/** True while the date in `field` lies ahead. A missing one compares as less than any date: over. */
export function buildInFutureExpression(field: string): object {
  return { $gt: [field, NOW] };
}

/** The same for a field that holds milliseconds since the epoch. */
export function buildInFutureMsExpression(field: string): object {
  return { $gt: [{ $add: [new Date(0), field] }, NOW] };
}

/** A value from outside within a pipeline: without this, a text that begins with `$` would be read as a field. */
export function literal(value: unknown): object {
  return { $literal: value };
}
