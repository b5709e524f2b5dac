import type { PreparedTarget } from '../toolcall/obtainCredential.ts';
import type { Bearer } from '../upstream/target.ts';

/**
 * The same to present, and no second try: a token that is refused here is not renewed, so that looking at a credential never
 * changes how it stands.
 */
export function withoutRecovery(prepared: PreparedTarget): PreparedTarget {
  if (!('holder' in prepared)) {
    return prepared.bearer
      ? { ...prepared, bearer: { ...prepared.bearer, ...withoutRenewal(prepared.bearer) } }
      : prepared;
  }
  const { holder } = prepared;
  const { target } = holder;
  if (target.type === 'stdio' || !target.bearer) return prepared;
  return { ...prepared, holder: { ...holder, target: { ...target, bearer: withoutRenewal(target.bearer) } } };
}

/** Field by field: what else a bearer can do is about what to do after a refusal. */
function withoutRenewal(bearer: Bearer): Bearer {
  return {
    extension: bearer.extension,
    token: () => bearer.token(),
    renew: () => Promise.resolve(false),
    hasRenewed: () => bearer.hasRenewed(),
    presentedTokens: () => bearer.presentedTokens(),
  };
}
