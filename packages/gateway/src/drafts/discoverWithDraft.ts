import { scopeList, type DiscoverToolsView, type RejectionHint } from '@behalf/contracts';
import { createTokenRequestBudget } from '../credentials/obo/oboTokens.ts';
import { DEFAULT_LABEL, userCredentialKey } from '../credentials/oauthTokens.ts';
import { parseScopeText } from '../credentials/oauth/discovery/scopeNames.ts';
import { SignInRequired } from '../credentials/signInRequired.ts';
import { GatewayError } from '../errors/gatewayError.ts';
import type { UserPrincipal } from '../principal/principal.ts';
import { stableStringify } from '../registry/stableStringify.ts';
import { collectPresentedSecrets } from '../toolcall/maskSecrets.ts';
import type { RemoteTarget } from '../upstream/target.ts';
import type { ServerDraft } from './draft.ts';
import type { DraftDefinition } from './drafts.ts';
import { probeDraft } from './probeDraft.ts';
import type { CredentialRefusalReason, CredentialRefusal } from './probeFailure.ts';
import { offerSignIn, type DiscoveryResult } from './offerSignIn.ts';
import type { DiscoverParts } from './parts.ts';

export interface DraftDiscovery {
  readonly draftId: string;
  readonly definition: DraftDefinition;
  readonly returnTo: string | undefined;
}

/** With what its user got by signing in on their draft. */
export async function discoverWithDraft(
  parts: DiscoverParts,
  principal: UserPrincipal,
  { draftId, definition, returnTo }: DraftDiscovery,
): Promise<DiscoveryResult> {
  const draft = await parts.drafts.findOwn(principal, draftId);
  if (!draft) throw new GatewayError('MCP_DRAFT_NOT_FOUND');
  // What was given for one address is shown to no other.
  if (stableStringify(draft.definition) !== stableStringify(definition))
    throw new GatewayError('MCP_CREDENTIAL_UNBOUND');
  const { id, expiresAt } = draft;
  let presentedSecrets: readonly string[] = [];
  try {
    const probe = await probeDraft(parts, principal, draft.definition, async () => {
      const target = await resolveTargetWithToken(parts, draft, principal);
      presentedSecrets = collectPresentedSecrets(target);
      return target;
    });
    if ('tools' in probe) return { view: { ...probe.tools, draftId: id, expiresAt } };
    return { view: await toRejectedView(parts, draft, principal, probe.refusal, presentedSecrets) };
  } catch (error) {
    if (!(error instanceof SignInRequired)) throw error;
    return offerSignIn(parts, principal, { draft, isNew: false, returnTo });
  }
}

/** Rejects with `SignInRequired` where nobody signed in yet: a draft is never asked without its token by who names it. */
async function resolveTargetWithToken(
  { credentials }: Pick<DiscoverParts, 'credentials'>,
  { server }: ServerDraft,
  principal: UserPrincipal,
): Promise<RemoteTarget> {
  const { target } = await credentials.obtain(server, principal, {}, createTokenRequestBudget(), {
    label: DEFAULT_LABEL,
  });
  if (target.type === 'stdio') throw new GatewayError('MCP_CONFIG_INVALID');
  // Known from the first request on: what the server repeats of it is taken out.
  await target.bearer?.token();
  return target;
}

const hints: Readonly<Record<CredentialRefusalReason, RejectionHint>> = {
  unauthorized: 'audience',
  insufficient_scope: 'scopes',
  forbidden: 'forbidden',
};

async function toRejectedView(
  { records }: Pick<DiscoverParts, 'records'>,
  { id, server, expiresAt }: ServerDraft,
  principal: UserPrincipal,
  { reason, error }: CredentialRefusal,
  presentedSecrets: readonly string[],
): Promise<DiscoverToolsView> {
  const credential = await records.find(userCredentialKey(server, principal, 'oauth_code'));
  // A server that repeats the token it was shown names no scope.
  const containsSecret = (scope: string) => presentedSecrets.some((token) => scope.includes(token));
  const requestedScopes = scopeList(parseScopeText(error.detail.challenge?.scope) ?? '').filter(
    (scope) => !containsSecret(scope),
  );
  return {
    ...{ outcome: 'credential_rejected', hint: hints[reason], draftId: id, expiresAt },
    ...(credential?.resource != null && { resource: credential.resource }),
    ...(credential && { scopes: credential.scopesGranted }),
    ...(requestedScopes.length > 0 && { wantedScopes: requestedScopes.join(' ') }),
  };
}
