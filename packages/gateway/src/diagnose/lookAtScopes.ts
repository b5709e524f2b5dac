import { scopeList } from '@behalf/contracts';
import { chooseScopes } from '../credentials/oauth/discovery/chooseScopes.ts';
import type { CredentialSummary } from '../credentials/vault/vault.ts';
import { ok, skipped, warning, type Finding } from './checklist.ts';
import type { FoundSignIn } from './lookAtSignIn.ts';

/** It says how long a sign-in lasts, and nothing about what it reaches. */
const OFFLINE = 'offline_access';

/** What was granted beside what is asked for. Scopes that the server names are counted: they are its words. */
export function lookAtScopes(
  { scopes, kind }: Pick<CredentialSummary, 'scopes' | 'kind'>,
  { target, discovered }: FoundSignIn,
): Finding {
  const granted = new Set(scopeList(scopes));
  if (granted.size === 0) {
    return skipped(
      kind === 'static' ? 'Nobody says what the token reaches.' : 'What was granted is not known.',
    );
  }
  const { scope: configured } = target.oauth;
  const { challengedScope: challenged, publishedScopes: published, as } = discovered;
  const asked = scopeList(chooseScopes({ configured, challenged, published, supported: as.scopes }));
  const missing = asked.filter((scope) => scope !== OFFLINE && !granted.has(scope));
  if (missing.length === 0) return ok('Your sign-in has every scope that is asked for.');
  const which =
    configured === undefined
      ? `${missing.length} of ${asked.length} scopes that the server asks for`
      : `what the definition asks for: ${missing.join(' ')}`;
  return warning(`Your sign-in lacks ${which}.`, 'If calls are refused, connect the server again.');
}
