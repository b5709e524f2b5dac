import { scopeList } from '@behalf/contracts';
import { SignInImpossible } from '../signInProblem.ts';
import type { SignInTarget } from '../signInTarget.ts';

/** Of OpenID Connect: they are for the sign-in itself, and for no server. */
const OPENID_SCOPES = new Set(['openid', 'profile', 'email', 'address', 'phone', 'offline_access']);

/**
 * Where `resource` is left out, nothing but the scopes says for whom a token is: each must name its audience (`api://x/read`,
 * `https://x.example/.default`), unless the operator names it in `oauth.audience`. One that names none would be good elsewhere.
 */
export function requireAudience(target: SignInTarget, resource: string | null, scopes: string): void {
  if (resource !== null || (target.isOperatorDefined && target.oauth.audience !== undefined)) return;
  const resourceScopes = scopeList(scopes).filter((scope) => !OPENID_SCOPES.has(scope));
  if (resourceScopes.length === 0 || !resourceScopes.every((scope) => /^[^/].*\/[^/]+$/.test(scope))) {
    throw new SignInImpossible('audience_missing');
  }
}
