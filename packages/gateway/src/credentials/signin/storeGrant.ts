import type { ImportCredentialRequest } from '@behalf/contracts';
import { withTimeout } from '@behalf/kernel';
import type { AllowedServer } from '../../access/allowedServer.ts';
import { GatewayError } from '../../errors/gatewayError.ts';
import { type CredentialKey, type CredentialRecord, credentialId } from '../../ports/index.ts';
import type { UserPrincipal } from '../../principal/principal.ts';
import { type ServerSnapshot, mayRequireOAuth } from '../../definitions/definition.ts';
import { credentialHolder } from '../../principal/credentialHolder.ts';
import { isCredentialUsable } from '../credentialSelector.ts';
import { toCredentialEndpoints } from '../oauth/grantContext.ts';
import { SignInImpossible, type SignInTarget, resolveSignInTarget } from '../oauth/signInTarget.ts';
import { DEFAULT_LABEL } from '../oauthTokens.ts';
import type { CommitOutcome, CredentialSummary, GrantCommit } from '../vault/vault.ts';
import type { NewToken, OAuthFlowParts, ProbeResult } from './flow.ts';

type ImportParts = Pick<
  OAuthFlowParts,
  'vault' | 'credentials' | 'servers' | 'discovery' | 'clients' | 'probe' | 'clock'
>;

export interface ImportedCredential {
  readonly credential: CredentialSummary;
  /** How the server answered. `unreachable`: the token is stored without a check. */
  readonly probe: Exclude<ProbeResult, 'refused'>;
}

/**
 * Imports a token that the user obtained outside of the gateway. With a refresh token, the issuer and client must be
 * those of the server, because the vault will refresh it. Without one it is used until it expires. A token that the
 * server refuses is not stored.
 */
export async function importCredential(
  parts: ImportParts,
  server: AllowedServer,
  principal: UserPrincipal,
  request: ImportCredentialRequest,
): Promise<ImportedCredential> {
  if (server.scope !== 'user' || !mayRequireOAuth(server)) throw new SignInImpossible('not_offered');
  const { tenant } = principal;
  const holder = credentialHolder(principal);
  const target = await resolveSignInTarget(parts.servers, server, { tenant, holder });
  if (!target) throw new SignInImpossible('not_fillable');
  const { canonicalUrl } = target;
  const { accessToken, refreshToken, expiresIn, scope, issuer, label = DEFAULT_LABEL } = request;
  const isRenewable = refreshToken !== undefined;
  const kind = isRenewable ? 'oauth_code' : 'static';
  const key: CredentialKey = { tenant, principal: holder, serverId: server.id, kind, label };
  const grantFields: GrantFields =
    isRenewable || issuer !== undefined
      ? await resolveGrant(parts, tenant, target, request)
      : { binding: { canonicalUrl, issuer: '', clientId: '', resource: null }, endpoints: null };
  await requireFreeLabel(parts, key);
  const probe = await probeToken(parts, server, principal, { key, token: accessToken, canonicalUrl });
  if (probe === 'refused') throw new GatewayError('MCP_TOKEN_REFUSED');
  const previous = await parts.credentials.find(key);
  const committed = await storeGrant(parts, {
    ...key,
    ...grantFields,
    tokens: { accessToken, tokenType: 'bearer', refreshToken, expiresInS: expiresIn ?? null, scope },
    sentAt: parts.clock.now(),
    scopesRequested: scope ?? '',
    baseGeneration: previous?.generation ?? 0,
  });
  const stored = committed.kind === 'committed' ? await parts.vault.find(key) : null;
  // A concurrent sign-in was stored first and wins.
  if (!stored) throw new GatewayError('MCP_VERSION_CONFLICT');
  return { credential: stored, probe };
}

/** A label names one credential. An imported token does not replace a sign-in. */
async function requireFreeLabel({ credentials }: ImportParts, key: CredentialKey): Promise<void> {
  if (key.kind !== 'static') return;
  const signIn = await credentials.find({ ...key, kind: 'oauth_code' });
  if (signIn && signIn.status !== 'revoked') throw new GatewayError('MCP_CREDENTIAL_LABEL_TAKEN');
}

type GrantFields = Pick<GrantCommit, 'binding' | 'endpoints'>;

/** Throws unless the issuer and client of the import are those of the server. */
async function resolveGrant(
  { discovery, clients }: ImportParts,
  tenant: string,
  target: SignInTarget,
  { issuer, clientId, refreshToken }: ImportCredentialRequest,
): Promise<GrantFields> {
  const isRenewable = refreshToken !== undefined;
  if (issuer === undefined || (isRenewable && clientId === undefined)) {
    throw new GatewayError('REQUEST_INVALID', {
      detail: 'A refresh token requires the issuer and the clientId that it was issued to.',
    });
  }
  const { asMetadata, resource } = await discovery.discover(target);
  if (asMetadata.issuer !== issuer) throw new GatewayError('MCP_CREDENTIAL_UNBOUND');
  const client =
    clientId === undefined
      ? null
      : await clients.resolveClient({ tenant, target, issuer, asMetadata }, clientId);
  if (client && client.clientId !== clientId) throw new GatewayError('MCP_CREDENTIAL_UNBOUND');
  return {
    binding: { canonicalUrl: target.canonicalUrl, issuer, clientId: clientId ?? '', resource },
    endpoints:
      isRenewable && client ? { ...toCredentialEndpoints(asMetadata), clientAuth: client.auth.method } : null,
  };
}

/**
 * Stores a grant. It becomes the default credential if the previous default is unusable. A sign-in also replaces an
 * imported token with the same label.
 */
export async function storeGrant(
  { vault, credentials, clock }: Pick<OAuthFlowParts, 'vault' | 'credentials' | 'clock'>,
  grant: GrantCommit,
): Promise<CommitOutcome> {
  const committed = await vault.commit(grant);
  if (committed.kind === 'superseded') return committed;
  const { tenant, principal, serverId, kind, label } = grant;
  const records = await credentials.list(tenant, principal, serverId);
  const currentDefault = records.find(({ isDefault }) => isDefault);
  if (
    currentDefault &&
    currentDefault.id !== committed.id &&
    shouldReplaceDefault(currentDefault, grant, clock.now())
  ) {
    await vault.makeDefault(committed.id);
  }
  const staticKey: CredentialKey = { tenant, principal, serverId, kind: 'static', label };
  if (kind === 'oauth_code' && records.some(({ id }) => id === credentialId(staticKey)))
    await vault.remove(staticKey);
  return committed;
}

/** An imported token never replaces a sign-in as the default, not even an unusable one. */
function shouldReplaceDefault(
  currentDefault: CredentialRecord,
  { kind }: Pick<GrantCommit, 'kind'>,
  now: number,
): boolean {
  if (currentDefault.status === 'revoked') return true;
  const isSignIn = currentDefault.kind === 'oauth_code';
  return kind === 'oauth_code'
    ? !(isSignIn && isCredentialUsable(currentDefault, now))
    : !isSignIn && !isCredentialUsable(currentDefault, now);
}

const PROBE_TIMEOUT_MS = 10_000;

/** Calls the server with a new token. Does not reject: an error is `unreachable`. */
export function probeToken(
  { probe, clock }: Pick<OAuthFlowParts, 'probe' | 'clock'>,
  server: ServerSnapshot,
  principal: UserPrincipal,
  token: NewToken,
): Promise<ProbeResult> {
  const probing = probe(server, principal, token).catch(() => 'unreachable' as const);
  return withTimeout(clock, PROBE_TIMEOUT_MS, probing, () => 'unreachable' as const);
}
