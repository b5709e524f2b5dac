import { scopeList } from '@behalf/contracts';
import { chooseScopes } from '../credentials/oauth/discovery/chooseScopes.ts';
import type { CredentialSummary } from '../credentials/vault/vault.ts';
import { ok, skipped, warning, type StepFinding } from './checklist.ts';
import type { DiscoveredSignIn } from './checkSignIn.ts';

/** It says how long a sign-in lasts, and nothing about what it reaches. */
const OFFLINE_SCOPE = 'offline_access';

/** What was granted beside what is asked for. Scopes that the server names are counted: they are its words. */
export function checkScopes(
  { scopes, kind }: Pick<CredentialSummary, 'scopes' | 'kind'>,
  { target, discovered }: DiscoveredSignIn,
): StepFinding {
  const granted = new Set(scopeList(scopes));
  if (granted.size === 0) {
    return skipped(
      kind === 'static' ? 'The scopes of the token are not known.' : 'The granted scopes are not known.',
    );
  }
  const { scope: configured } = target.oauth;
  const { challengedScope: challenged, publishedScopes: published, asMetadata } = discovered;
  const requested = scopeList(
    chooseScopes({ configured, challenged, published, supported: asMetadata.scopes }),
  );
  const missing = requested.filter((scope) => scope !== OFFLINE_SCOPE && !granted.has(scope));
  if (missing.length === 0) return ok('Your sign-in has all required scopes.');
  const missingText =
    configured === undefined
      ? `${missing.length} of ${requested.length} scopes that the server requires`
      : `scopes of the definition: ${missing.join(' ')}`;
  return warning(`Your sign-in lacks ${missingText}.`, 'If calls are rejected, connect the server again.');
}
