import {
  type DiscoverToolsRequest,
  type DiscoverToolsView,
  type RejectionHint,
  parseUrl,
  scopeList,
} from '@behalf/contracts';
import type { Clock } from '@behalf/kernel';
import { withAudit } from '../../audit/withAudit.ts';
import type { Credentials } from '../../credentials/credentials.ts';
import { parseScopeText } from '../../credentials/oauth/scopes.ts';
import { SignInImpossible } from '../../credentials/oauth/signInTarget.ts';
import { DEFAULT_LABEL, userCredentialKey } from '../../credentials/oauthTokens.ts';
import { createTokenRequestBudget } from '../../credentials/obo/bearer.ts';
import { SignInRequired } from '../../credentials/signInRequired.ts';
import type { OAuthFlows } from '../../credentials/signin/createOAuthServices.ts';
import type { StartedFlow } from '../../credentials/signin/start.ts';
import { GatewayError } from '../../errors/gatewayError.ts';
import type { AttemptCounter, CredentialStore } from '../../ports/index.ts';
import type { UserPrincipal } from '../../principal/principal.ts';
import { collectPresentedSecrets } from '../../toolcall/mask.ts';
import type { RemoteTarget } from '../../upstream/target.ts';
import type { Challenge } from '../../upstream/upstreamError.ts';
import { type ServerDraft, toDraftName } from '../definition.ts';
import { type Fields, stableStringify } from '../fields.ts';
import { type CredentialRefusal, type CredentialRefusalReason, probeDraft } from './draftProbe.ts';
import type { DraftDefinition, ServerDrafts } from './drafts.ts';
import { type ConfigureParts, createConfigEvent } from './editing.ts';
import { reauthorizeWriter } from './permissions.ts';
import { type ListDefinitionParts, toRemoteTarget } from './probe.ts';

/** What looking at a server that nobody saved needs. */
export interface DiscoverParts extends Omit<ConfigureParts, 'inspect'>, ListDefinitionParts {
  readonly drafts: ServerDrafts;
  readonly flows: Pick<OAuthFlows, 'start'>;
  readonly credentials: Credentials;
  readonly records: Pick<CredentialStore, 'find'>;
  readonly attempts: AttemptCounter;
}

/** On the page that asks whether to sign in, beside the hosts: nobody has given it another yet. */
const DRAFT_TITLE = 'New server';

type Auth = DiscoverToolsRequest['auth'];

/**
 * What a server has that nobody saved. It is judged as saving it would judge it, then asked once; nothing of it is stored but a draft
 * where its user has to sign in first. That it was asked is told, by its host: somebody may be looking for hosts.
 */
export function discoverTools(
  parts: DiscoverParts,
  principal: UserPrincipal,
  { url, type, auth, returnTo }: DiscoverToolsRequest,
): Promise<DiscoveryResult> {
  const event = createConfigEvent(principal, { action: 'server.discover', door: 'rest' });
  const definition: DraftDefinition = { type, url, title: DRAFT_TITLE };
  return withAudit(parts.audit, event, async (details) => {
    const host = parseUrl(url)?.host;
    if (host !== undefined) details.subject = host;
    await reauthorizeWriter(parts, principal);
    await limitDiscovery(parts, principal);
    const result =
      auth.type === 'draft'
        ? await discoverWithDraft(parts, principal, { draftId: auth.draftId, definition, returnTo })
        : await discoverDirectly(parts, principal, { auth, definition, returnTo });
    parts.audit.note({ ...event, ...details, outcome: 'ok' });
    return { result, changed: [] };
  });
}

interface DirectDiscovery {
  readonly definition: DraftDefinition;
  readonly auth: Exclude<Auth, { type: 'draft' }>;
  readonly returnTo: string | undefined;
}

/** With nothing, or with a key that is forgotten when the answer is there: no draft holds one. */
async function discoverDirectly(
  parts: DiscoverParts,
  principal: UserPrincipal,
  { auth, definition, returnTo }: DirectDiscovery,
): Promise<DiscoveryResult> {
  const fields = auth.type === 'key' ? { ...definition, apiKey: toApiKey(auth) } : definition;
  const probe = await probeDraft(parts, principal, fields, toRemoteTarget);
  if ('tools' in probe) return { view: probe.tools };
  const { reason, error } = probe.refusal;
  if (auth.type === 'key') {
    const hint = reason === 'unauthorized' ? 'key' : 'forbidden';
    return { view: { outcome: 'credential_rejected', hint } };
  }
  const { challenge } = error.detail;
  return offerSignIn(parts, principal, {
    ...(await parts.drafts.open(principal, definition)),
    ...{ challenge, returnTo },
  });
}

function toApiKey({ authorization_type, custom_header, key }: Extract<Auth, { type: 'key' }>): Fields {
  const header = custom_header === undefined ? {} : { custom_header };
  return { source: 'admin', authorization_type, key, ...header };
}

interface DraftDiscovery {
  readonly draftId: string;
  readonly definition: DraftDefinition;
  readonly returnTo: string | undefined;
}

/** With what its user got by signing in on their draft. */
async function discoverWithDraft(
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

interface DiscoveryResult {
  readonly view: DiscoverToolsView;
  /** The sign-in that was begun, for the cookie of the browser that asked. */
  readonly flow?: StartedFlow;
}

interface SignInOffer {
  readonly draft: ServerDraft;
  /** Made for this question: without a sign-in it is of no use, and goes at once. */
  readonly isNew: boolean;
  /** What the server said when it refused. */
  readonly challenge?: Challenge | undefined;
  readonly returnTo?: string | undefined;
}

/**
 * A sign-in at a server that refused us, on a draft of it. All that guards sign-ins at saved servers guards this one: it is the same
 * code, for a server that a user chose.
 */
async function offerSignIn(
  parts: Pick<DiscoverParts, 'drafts' | 'flows'>,
  principal: UserPrincipal,
  { draft, isNew, challenge, returnTo }: SignInOffer,
): Promise<DiscoveryResult> {
  try {
    const server = await parts.drafts.authorize(principal, toDraftName(draft.id));
    const flow = await parts.flows.start(server, principal, {
      ...{ returnTo, challenge },
      // A program begins it for its user, who then goes on in a browser: that one is asked.
      bindsBrowser: principal.authentication.via === 'session',
    });
    return { view: toAuthorizationView(draft, flow), flow };
  } catch (error) {
    if (isNew) await parts.drafts.discard(draft);
    if (!(error instanceof SignInImpossible)) throw error;
    return { view: { outcome: 'no_oauth_metadata', reason: error.problem } };
  }
}

function toAuthorizationView({ id, expiresAt }: ServerDraft, { flow }: StartedFlow): DiscoverToolsView {
  return {
    outcome: 'authorization_required',
    draftId: id,
    flowId: flow.flowId,
    connectUrl: flow.connectUrl,
    expiresAt,
    flowExpiresAt: Math.min(flow.expiresAt, expiresAt),
  };
}

/** Enough for somebody who mistypes an address again and again, and too few for who looks for hosts that answer. */
const MAX_DISCOVERIES = 30;
const WINDOW_MS = 5 * 60 * 1000;

/** Each names an address that this gateway then opens: counted for all processes together, besides the rate of the door. */
async function limitDiscovery(
  { attempts, clock }: { readonly attempts: AttemptCounter; readonly clock: Clock },
  { tenant, userId }: UserPrincipal,
): Promise<void> {
  const { count, resetAt } = await attempts.hit(`discover:${JSON.stringify([tenant, userId])}`, WINDOW_MS);
  if (count <= MAX_DISCOVERIES) return;
  throw new GatewayError('RATE_LIMITED', { retryAfterMs: Math.max(1_000, resetAt - clock.now()) });
}
