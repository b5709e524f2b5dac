/**
 * The state of a sign-in of a user at a server, from start to callback.
 *
 * Invariants:
 * - A flow belongs to one user, one server and one browser. The callback requires all three; the store decides which
 *   callback wins.
 * - The store holds only hashes of `state` and of the browser secret. Verifier, nonce and DPoP key are sealed, and
 *   removed when the flow ends. A flow never contains a token.
 * - A flow ends if the server definition changed since it started.
 *
 * RFCs: 6749 section 4.1, 7636 (PKCE), 8707 (resource), 9207 (`iss`), 9449 (DPoP), 9700.
 */
import { createHash } from 'node:crypto';
import type { FlowError } from '@behalf/contracts';
import { type Clock, type Keyring, type Random, areSecretsEqual } from '@behalf/kernel';
import type { Audit } from '../../audit/audit.ts';
import {
  type AttemptCounter,
  type ChangeFeed,
  type CredentialEndpoints,
  type CredentialKey,
  type CredentialStore,
  type FlowStatus,
  type OAuthFlowRecord,
  type OAuthFlowStore,
  toFlowSealContext,
} from '../../ports/index.ts';
import type { UserPrincipal } from '../../principal/principal.ts';
import type { ServerSnapshot } from '../../definitions/definition.ts';
import type { WireToken } from '../../upstream/target.ts';
import type { Log } from '../../upstream/upstream.ts';
import { credentialHolder } from '../../principal/credentialHolder.ts';
import type { OAuthClient } from '../oauth/clientAuthentication.ts';
import type { OAuthClients } from '../oauth/clients.ts';
import type { OAuthDiscovery } from '../oauth/discovery.ts';
import type { Dpop } from '../oauth/dpop.ts';
import type { OAuthNetwork } from '../oauth/network.ts';
import { type SignInServers, type SignInTarget, resolveSignInTarget } from '../oauth/signInTarget.ts';
import type { CredentialVault, GrantCommit } from '../vault/vault.ts';

/** The maximum number of pending sign-ins. */
export const FLOW_LIMITS = { perUser: 5, perTenant: 200 } as const;
/** The maximum time from the callback to the end of the flow: code exchange, storing, probe. */
export const MAX_EXCHANGE_MS = 60 * 1000;
/** The states before the callback. */
export const PENDING_STATUSES = ['created', 'opened'] as const;

export interface OAuthFlowParts {
  readonly flows: OAuthFlowStore;
  readonly credentials: Pick<CredentialStore, 'find' | 'list'>;
  readonly vault: Pick<CredentialVault, 'commit' | 'find' | 'makeDefault' | 'remove'>;
  readonly servers: SignInServers;
  readonly discovery: OAuthDiscovery;
  readonly clients: OAuthClients;
  readonly network: OAuthNetwork;
  readonly dpop: Dpop;
  readonly attempts: AttemptCounter;
  readonly changes: Pick<ChangeFeed, 'publish' | 'subscribe'>;
  readonly audit: Pick<Audit, 'note'>;
  readonly keyring: Keyring;
  readonly clock: Clock;
  readonly random: Random;
  /** How long a sign-in may take, and how long after its start its status can be read. */
  readonly durations: { readonly pendingMs: number; readonly retentionMs: number };
  readonly log: Log;
  /** The public URL of the gateway. */
  readonly baseUrl: () => string;
  readonly probe: TokenProbe;
}

/** A token that a sign-in returned or a user imports. */
export interface NewToken {
  readonly key: CredentialKey;
  readonly token: WireToken;
  /** The only URL that may receive the token. */
  readonly canonicalUrl: string;
}

/** Calls the server with this token. `unverified`: the server also answers without a token. */
export type TokenProbe = (
  server: ServerSnapshot,
  principal: UserPrincipal,
  token: NewToken,
) => Promise<ProbeResult>;

export type ProbeResult = 'ok' | 'unverified' | 'unreachable' | 'refused';

/** The inputs of a sign-in, sealed in the flow record. */
export interface FlowPayload {
  /** The revision of the server definition at the start. */
  readonly definitionRevision: string;
  readonly label: string;
  readonly returnTo: string;
  /** The grant that the callback will store, without its tokens. Fixed at the start: the callback reads no metadata. */
  readonly grant: Pick<GrantCommit, 'binding' | 'scopesRequested' | 'baseGeneration'> & {
    readonly endpoints: CredentialEndpoints & { readonly clientAuth: OAuthClient['auth']['method'] };
  };
  readonly authorizationEndpoint: string;
  readonly jwksUri: string | null;
  readonly hasIssuerIdentifier: boolean;
  readonly isIssParameterSupported: boolean;
  readonly redirectUri: string;
  /** A claims request, as JSON text. */
  readonly claims?: string | undefined;
  /** The user must confirm where their tokens will be sent. */
  readonly requiresConfirmation: boolean;
  /** Request DPoP-bound tokens (RFC 9449). */
  readonly usesDpop?: boolean;
  /** Secrets of the latest redirect to the authorization server. */
  readonly codeVerifier?: string;
  readonly nonce?: string;
  /** A private JWK, sealed here until the grant is stored. */
  readonly dpopKey?: string;
  /** How the server answered to the new token. */
  readonly probeResult?: ProbeResult;
}

type FlowKey = Pick<OAuthFlowRecord, 'tenant' | 'userId' | 'serverId' | 'id'>;

export function sealPayload(keyring: Keyring, key: FlowKey, payload: FlowPayload): string {
  return keyring.seal(JSON.stringify(payload), toFlowSealContext(key));
}

/** Throws if the payload was sealed for another flow, user or server. */
export function openPayload(keyring: Keyring, flow: OAuthFlowRecord): FlowPayload {
  return JSON.parse(keyring.open(flow.sealed, toFlowSealContext(flow))) as FlowPayload;
}

const SECRET_BYTES = 32;

/** For `state`, code verifier, nonce and browser cookie: 256 random bits. */
export function createFlowSecret(random: Random): string {
  return Buffer.from(random.bytes(SECRET_BYTES)).toString('base64url');
}

/** SHA-256 in base64url. Also the code challenge of RFC 7636, section 4.2. */
export function hashFlowSecret(secret: string): string {
  return createHash('sha256').update(secret).digest('base64url');
}

export function matchesFlowSecret(hash: string | null, secret: string | null): boolean {
  return hash !== null && secret !== null && areSecretsEqual(hash, hashFlowSecret(secret));
}

/** The target of the sign-in. Undefined if the server definition or its address changed since the start. */
export async function findUnchangedTarget(
  servers: SignInServers,
  { tenant, serverId, userId }: OAuthFlowRecord,
  { definitionRevision, grant }: FlowPayload,
): Promise<SignInTarget | undefined> {
  const server = await servers.get(tenant, serverId);
  if (server?.revision !== definitionRevision) return undefined;
  const target = await resolveSignInTarget(servers, server, { tenant, holder: credentialHolder({ userId }) });
  return target?.canonicalUrl === grant.binding.canonicalUrl ? target : undefined;
}

interface FlowOutcome {
  /** The flow ends only if it is in one of these states. */
  readonly from: readonly FlowStatus[];
  readonly status: 'approved' | 'failed' | 'cancelled';
  readonly error?: FlowError;
  readonly payload?: FlowPayload;
}

/** Ends a flow and notifies waiting callers. False if the flow ended before. */
export async function endFlow(
  { flows, changes, keyring }: Pick<OAuthFlowParts, 'flows' | 'changes' | 'keyring'>,
  flow: OAuthFlowRecord,
  { from, status, error, payload }: FlowOutcome,
): Promise<boolean> {
  const updated = await flows.transition(
    flow.id,
    { status: from, userId: flow.userId },
    {
      status,
      error: error ?? null,
      ...(payload && { sealed: sealPayload(keyring, flow, payload) }),
    },
  );
  if (!updated) return false;
  await changes.publish({ topic: 'oauthFlows', id: flow.id });
  return true;
}
