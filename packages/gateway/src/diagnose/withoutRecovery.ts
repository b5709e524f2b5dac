import type { PreparedTarget } from '../toolcall/obtainCredential.ts';
import type { Bearer } from '../upstream/target.ts';

/**
 * The same to present, and no second try: a token that is refused here is not renewed, so that looking at a credential never
 * changes how it stands.
 */
export function withoutRecovery(ready: PreparedTarget): PreparedTarget {
  if (!('holder' in ready)) {
    return ready.bearer ? { ...ready, bearer: { ...ready.bearer, ...asItIs(ready.bearer) } } : ready;
  }
  const { holder } = ready;
  const { target } = holder;
  if (target.type === 'stdio' || !target.bearer) return ready;
  return { ...ready, holder: { ...holder, target: { ...target, bearer: asItIs(target.bearer) } } };
}

/** Field by field: what else a bearer can do is about what to do after a refusal. */
function asItIs(bearer: Bearer): Bearer {
  return {
    extension: bearer.extension,
    token: () => bearer.token(),
    renew: () => Promise.resolve(false),
    hasRenewed: () => bearer.hasRenewed(),
    presentedTokens: () => bearer.presentedTokens(),
  };
}
