import { scopeList, type DiscoverToolsView, type RejectionHint } from '@behalf/contracts';
import { createTokenRequestBudget } from '../credentials/obo/oboTokens.ts';
import { DEFAULT_LABEL, userCredentialKey } from '../credentials/oauthTokens.ts';
import { parseScopeText } from '../credentials/oauth/discovery/scopeNames.ts';
import { SignInRequired } from '../credentials/signInRequired.ts';
import { GatewayError } from '../errors/gatewayError.ts';
import type { UserPrincipal } from '../principal/principal.ts';
import { stableText } from '../registry/stableText.ts';
import { collectPresentedSecrets } from '../toolcall/maskPresented.ts';
import type { RemoteTarget } from '../upstream/target.ts';
import type { Draft } from './draft.ts';
import type { DraftDefinition } from './drafts.ts';
import { look } from './look.ts';
import type { Refusal, Refused } from './lookFailure.ts';
import { offerSignIn, type Discovered } from './offerSignIn.ts';
import type { DiscoverParts } from './parts.ts';

export interface WithDraft {
  readonly draftId: string;
  readonly definition: DraftDefinition;
  readonly returnTo: string | undefined;
}

/** With what its user got by signing in on their draft. */
export async function discoverWithDraft(
  parts: DiscoverParts,
  principal: UserPrincipal,
  { draftId, definition, returnTo }: WithDraft,
): Promise<Discovered> {
  const draft = await parts.drafts.own(principal, draftId);
  if (!draft) throw new GatewayError('MCP_DRAFT_NOT_FOUND');
  // What was given for one address is shown to no other.
  if (stableText(draft.definition) !== stableText(definition))
    throw new GatewayError('MCP_CREDENTIAL_UNBOUND');
  const { id, expiresAt } = draft;
  let shown: readonly string[] = [];
  try {
    const looked = await look(parts, principal, draft.definition, async () => {
      const target = await targetWithToken(parts, draft, principal);
      shown = collectPresentedSecrets(target);
      return target;
    });
    if ('tools' in looked) return { view: { ...looked.tools, draftId: id, expiresAt } };
    return { view: await rejected(parts, draft, principal, looked.refused, shown) };
  } catch (error) {
    if (!(error instanceof SignInRequired)) throw error;
    return offerSignIn(parts, principal, { draft, isNew: false, returnTo });
  }
}

/** Rejects with `SignInRequired` where nobody signed in yet: a draft is never asked without its token by who names it. */
async function targetWithToken(
  { credentials }: Pick<DiscoverParts, 'credentials'>,
  { server }: Draft,
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

const hints: Readonly<Record<Refusal, RejectionHint>> = {
  unauthorized: 'audience',
  insufficient_scope: 'scopes',
  forbidden: 'forbidden',
};

async function rejected(
  { records }: Pick<DiscoverParts, 'records'>,
  { id, server, expiresAt }: Draft,
  principal: UserPrincipal,
  { reason, error }: Refused,
  shown: readonly string[],
): Promise<DiscoverToolsView> {
  const given = await records.find(userCredentialKey(server, principal, 'oauth_code'));
  // A server that repeats the token it was shown names no scope.
  const isShown = (scope: string) => shown.some((token) => scope.includes(token));
  const wanted = scopeList(parseScopeText(error.detail.challenge?.scope) ?? '').filter(
    (scope) => !isShown(scope),
  );
  return {
    ...{ outcome: 'credential_rejected', hint: hints[reason], draftId: id, expiresAt },
    ...(given?.resource != null && { resource: given.resource }),
    ...(given && { scopes: given.scopesGranted }),
    ...(wanted.length > 0 && { wantedScopes: wanted.join(' ') }),
  };
}
