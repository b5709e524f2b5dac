import { stableStringify } from '@behalf/kernel';
import {
  type DiscoverToolsRequest,
  type DiscoverToolsView,
  type RejectionHint,
  parseUrl,
  scopeList,
} from '@behalf/contracts';
import { withAudit } from '../audit/withAudit.ts';
import type { Credentials } from '../credentials/credentials.ts';
import { parseScopeText } from '../credentials/oauth/scopes.ts';
import { SignInImpossible } from '../credentials/oauth/signInTarget.ts';
import { DEFAULT_LABEL, userCredentialKey } from '../credentials/oauthTokens.ts';
import { createTokenRequestBudget } from '../credentials/obo/bearer.ts';
import { SignInRequired } from '../credentials/signInRequired.ts';
import type { OAuthFlows } from '../credentials/signin/createOAuthServices.ts';
import type { StartedFlow } from '../credentials/signin/start.ts';
import { GatewayError } from '../errors/gatewayError.ts';
import type { AttemptCounter, CredentialStore } from '../ports/index.ts';
import type { UserPrincipal } from '../principal/principal.ts';
import { collectPresentedSecrets } from '../toolcall/mask.ts';
import type { RemoteTarget } from '../upstream/target.ts';
import type { Challenge } from '../upstream/upstreamError.ts';
import { toDraftName } from '../definitions/definition.ts';
import {
  type CredentialRefusal,
  type CredentialRefusalReason,
  type DraftProbeParts,
  probeDraft,
} from './draftProbe.ts';
import type { DraftDefinition, ServerDraft, ServerDrafts } from './drafts.ts';
import { createConfigEvent } from './editing.ts';
import { reauthorizeWriter } from './permissions.ts';
import { renderDefinitionTarget } from './probe.ts';

/** The dependencies of discovering the tools of an unsaved server. */
export interface DiscoverParts extends DraftProbeParts {
  readonly drafts: ServerDrafts;
  readonly flows: Pick<OAuthFlows, 'start'>;
  readonly credentials: Credentials;
  readonly records: Pick<CredentialStore, 'find'>;
  readonly attempts: AttemptCounter;
}

/** The title of a draft on the consent page. */
const DRAFT_TITLE = 'New server';

interface DiscoveryResult {
  readonly view: DiscoverToolsView;
  /** The started sign-in, for the cookie of the requesting browser. */
  readonly flow?: StartedFlow;
}

/**
 * Lists the tools of an unsaved server. Validates the definition like a new server and probes it once. Stores nothing
 * except a draft, if the user must sign in first. Recorded in the audit log with the host, because the request could be
 * used to scan for hosts.
 */
export function discoverTools(
  parts: DiscoverParts,
  principal: UserPrincipal,
  { url, type, auth, returnTo }: DiscoverToolsRequest,
): Promise<DiscoveryResult> {
  const event = createConfigEvent(principal, { action: 'server.discover', door: 'rest' });
  const definition: DraftDefinition = { type, url, title: DRAFT_TITLE };

  /** Presents an API key that is used only for this request: drafts never contain a key. */
  async function discoverWithKey({
    type: _type,
    ...key
  }: Extract<DiscoverToolsRequest['auth'], { type: 'key' }>): Promise<DiscoveryResult> {
    const fields = { ...definition, apiKey: { source: 'admin', ...key } };
    const probe = await probeDraft(parts, principal, fields, renderDefinitionTarget);
    if ('tools' in probe) return { view: probe.tools };
    const hint = probe.refusal.reason === 'unauthorized' ? 'key' : 'forbidden';
    return { view: { outcome: 'credential_rejected', hint } };
  }

  async function discoverAnonymously(): Promise<DiscoveryResult> {
    const probe = await probeDraft(parts, principal, definition, renderDefinitionTarget);
    if ('tools' in probe) return { view: probe.tools };
    const { draft, isNew } = await parts.drafts.open(principal, definition);
    try {
      return await offerSignIn(draft, probe.refusal.error.detail.challenge);
    } catch (error) {
      // Without a sign-in, a new draft has no use.
      if (isNew) await parts.drafts.discard(draft);
      return toNoSignInResult(error);
    }
  }

  /** Presents the token that the user received by signing in on the draft. */
  async function discoverWithDraft(draftId: string): Promise<DiscoveryResult> {
    const draft = await parts.drafts.findOwn(principal, draftId);
    if (!draft) throw new GatewayError('MCP_DRAFT_NOT_FOUND');
    // A token issued for one address must not be presented to another.
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
      return offerSignIn(draft).catch(toNoSignInResult);
    }
  }

  /** Starts a sign-in on a draft, with the same code and checks as a sign-in at a saved server. */
  async function offerSignIn(
    { id, expiresAt }: ServerDraft,
    challenge?: Challenge,
  ): Promise<DiscoveryResult> {
    const server = await parts.drafts.authorize(principal, toDraftName(id));
    const started = await parts.flows.start(server, principal, {
      ...{ returnTo, challenge },
      // With an API key, a program starts the flow and the user continues in a browser that is not known yet.
      bindsBrowser: principal.authentication.via === 'session',
    });
    const { flowId, connectUrl } = started.flow;
    const flowExpiresAt = Math.min(started.flow.expiresAt, expiresAt);
    const view = { draftId: id, flowId, connectUrl, expiresAt, flowExpiresAt };
    return { view: { outcome: 'authorization_required', ...view }, flow: started };
  }

  return withAudit(parts.audit, event, async (details) => {
    const host = parseUrl(url)?.host;
    if (host !== undefined) details.subject = host;
    await reauthorizeWriter(parts, principal);
    await limitDiscovery(parts, principal);
    const discover = () => {
      if (auth.type === 'draft') return discoverWithDraft(auth.draftId);
      return auth.type === 'key' ? discoverWithKey(auth) : discoverAnonymously();
    };
    const result = await discover();
    parts.audit.note({ ...event, ...details, outcome: 'ok' });
    return { result, changed: [] };
  });
}

function toNoSignInResult(error: unknown): DiscoveryResult {
  if (!(error instanceof SignInImpossible)) throw error;
  return { view: { outcome: 'no_oauth_metadata', reason: error.problem } };
}

/** Throws `SignInRequired` if the user has not signed in on the draft. */
async function resolveTargetWithToken(
  { credentials }: Pick<DiscoverParts, 'credentials'>,
  { server }: ServerDraft,
  principal: UserPrincipal,
): Promise<RemoteTarget> {
  const { target } = await credentials.obtain(server, principal, {}, createTokenRequestBudget(), {
    label: DEFAULT_LABEL,
  });
  if (target.type === 'stdio') throw new GatewayError('MCP_CONFIG_INVALID');
  // Obtains the token before the first request, so that responses that repeat it are redacted.
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
  // Drops a "scope" that repeats the presented token.
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

/** Permits repeated attempts with a mistyped address, but makes scanning for hosts impractical. */
const MAX_DISCOVERIES = 30;
const WINDOW_MS = 5 * 60 * 1000;

/** Each request opens an address that the user chooses, so a limit across all replicas applies besides the rate limit. */
async function limitDiscovery(
  { attempts, clock }: Pick<DiscoverParts, 'attempts' | 'clock'>,
  { tenant, userId }: UserPrincipal,
): Promise<void> {
  const { count, resetAt } = await attempts.hit(`discover:${JSON.stringify([tenant, userId])}`, WINDOW_MS);
  if (count <= MAX_DISCOVERIES) return;
  throw new GatewayError('RATE_LIMITED', { retryAfterMs: Math.max(1_000, resetAt - clock.now()) });
}
