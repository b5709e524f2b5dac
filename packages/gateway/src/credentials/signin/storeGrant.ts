import type { ImportCredentialRequest } from '@behalf/contracts';
import { type Clock, withTimeout } from '@behalf/kernel';
import type { AllowedServer } from '../../access/allowedServer.ts';
import { GatewayError } from '../../errors/gatewayError.ts';
import {
  type CredentialKey,
  type CredentialRecord,
  type CredentialStore,
  credentialId,
} from '../../ports/index.ts';
import type { UserPrincipal } from '../../principal/principal.ts';
import { type ServerSnapshot, mayRequireOAuth } from '../../servers/definition.ts';
import { credentialHolder } from '../credentialKeys.ts';
import { isCredentialUsable } from '../credentialSelector.ts';
import type { OAuthClients } from '../oauth/clients.ts';
import type { OAuthDiscovery } from '../oauth/discovery.ts';
import { toCredentialEndpoints } from '../oauth/grantContext.ts';
import {
  SignInImpossible,
  type SignInServers,
  type SignInTarget,
  resolveSignInTarget,
} from '../oauth/signInTarget.ts';
import { DEFAULT_LABEL } from '../oauthTokens.ts';
import type { CommitOutcome, CredentialSummary, CredentialVault, GrantCommit } from '../vault/vault.ts';
import type { NewToken, ProbeResult, TokenProbe } from './flow.ts';

interface ImportParts {
  readonly vault: Pick<CredentialVault, 'commit' | 'find' | 'makeDefault' | 'remove'>;
  readonly credentials: Pick<CredentialStore, 'find' | 'list'>;
  readonly servers: SignInServers;
  readonly discovery: Pick<OAuthDiscovery, 'discover'>;
  readonly clients: OAuthClients;
  readonly probe: TokenProbe;
  readonly clock: Clock;
}

export interface ImportedCredential {
  readonly credential: CredentialSummary;
  /** How the server took it. `unreachable`: it was not asked, and the token is kept all the same. */
  readonly probe: Exclude<ProbeResult, 'refused'>;
}

/**
 * Takes a token that its user got elsewhere. With a refresh token it is renewed here like any other, so it must have been given
 * by the authorization server that this server has, to the client that we are there: anything else is not taken. Alone it is
 * presented until it ends. The server is asked first: what it refuses is not kept.
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
  const isRenewable = request.refreshToken !== undefined;
  const key: CredentialKey = {
    ...{ tenant, principal: holder, serverId: server.id },
    ...{ kind: isRenewable ? 'oauth_code' : 'static', label: request.label ?? DEFAULT_LABEL },
  };
  const grantFields =
    isRenewable || request.issuer !== undefined
      ? await resolveGrant(parts, tenant, target, request)
      : toStaticGrant(target);
  await requireFreeLabel(parts, key);
  const { accessToken, refreshToken, expiresIn, scope } = request;
  const probe = await probeToken(parts, server, principal, {
    ...{ key, token: accessToken, canonicalUrl: target.canonicalUrl },
  });
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
  // Somebody signed in at the same moment: theirs counts.
  if (!stored) throw new GatewayError('MCP_VERSION_CONFLICT');
  return { credential: stored, probe };
}

/** One label is one credential. A token that was brought ends no sign-in: its user does. */
async function requireFreeLabel({ credentials }: ImportParts, key: CredentialKey): Promise<void> {
  if (key.kind !== 'static') return;
  const signIn = await credentials.find({ ...key, kind: 'oauth_code' });
  if (signIn && signIn.status !== 'revoked') throw new GatewayError('MCP_CREDENTIAL_LABEL_TAKEN');
}

type GrantFields = Pick<GrantCommit, 'binding' | 'endpoints'>;

function toStaticGrant({ canonicalUrl }: SignInTarget): GrantFields {
  return { binding: { canonicalUrl, issuer: '', clientId: '', resource: null }, endpoints: null };
}

/** Its issuer and client are what the server has now, or it is refused. */
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

interface StoreGrantParts {
  readonly vault: Pick<CredentialVault, 'commit' | 'makeDefault' | 'remove'>;
  readonly credentials: Pick<CredentialStore, 'list'>;
  readonly clock: Clock;
}

/**
 * Stores what a user was given at a server or brought, as what is used from now on where the one before is of no use. A
 * sign-in also takes the place of a token that was brought under its label: one label is one credential.
 */
export async function storeGrant(parts: StoreGrantParts, grant: GrantCommit): Promise<CommitOutcome> {
  const { vault, credentials, clock } = parts;
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

/** A token that was brought never stands before a sign-in unasked, not even before one that fails: anybody can bring one. */
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

const TIMEOUT_MS = 10_000;

/** How the server takes a token. Never fails: one that cannot be asked is `unreachable`. */
export function probeToken(
  { probe, clock }: { readonly probe: TokenProbe; readonly clock: Clock },
  server: ServerSnapshot,
  principal: UserPrincipal,
  token: NewToken,
): Promise<ProbeResult> {
  const probing = probe(server, principal, token).catch(() => 'unreachable' as const);
  return withTimeout(clock, TIMEOUT_MS, probing, () => 'unreachable' as const);
}
