import { createHash } from 'node:crypto';
import type { FlowError } from '@behalf/contracts';
import { type Clock, type Keyring, type Random, areSecretsEqual } from '@behalf/kernel';
import type { Audit } from '../../audit/audit.ts';
import {
  type AttemptCounter,
  type ChangeFeed,
  type CredentialKey,
  type CredentialStore,
  type FlowStatus,
  type OAuthFlowRecord,
  type OAuthFlowStore,
  toFlowSealContext,
} from '../../ports/index.ts';
import type { UserPrincipal } from '../../principal/principal.ts';
import type { ServerSnapshot } from '../../servers/definition.ts';
import type { WireToken } from '../../upstream/target.ts';
import type { Log } from '../../upstream/upstream.ts';
import type { OAuthClient } from '../oauth/clientAuthentication.ts';
import type { OAuthClients } from '../oauth/clients.ts';
import type { OAuthDiscovery } from '../oauth/discovery.ts';
import type { Dpop } from '../oauth/dpop.ts';
import type { OAuthNetwork } from '../oauth/network.ts';
import type { SignInServers } from '../oauth/signInTarget.ts';
import type { CredentialVault } from '../vault/vault.ts';

/** Sign-ins that may be pending at once. */
export const FLOW_LIMITS = { perUser: 5, perTenant: 200 } as const;
/** From the callback to the end: the exchange, storing and a look at the server, with room to spare. */
export const MAX_EXCHANGE_MS = 60 * 1000;

/** How long a sign-in may take, and for how long after its beginning it is told of. */
interface FlowDurations {
  readonly pendingMs: number;
  readonly retentionMs: number;
}

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
  readonly durations: FlowDurations;
  readonly log: Log;
  /** Under which address people reach us. */
  readonly baseUrl: () => string;
  readonly probe: TokenProbe;
}

/** A token that a user was just given, or brings. */
export interface NewToken {
  readonly key: CredentialKey;
  readonly token: WireToken;
  /** The only address that it may be presented to. */
  readonly canonicalUrl: string;
}

/** Asks the server with this very token. `unverified`: it also answers without one. */
export type TokenProbe = (
  server: ServerSnapshot,
  principal: UserPrincipal,
  token: NewToken,
) => Promise<ProbeResult>;

export type ProbeResult = 'ok' | 'unverified' | 'unreachable' | 'refused';

/** What a sign-in goes by, from its start to its end. No token is ever in it. */
export interface FlowPayload {
  /** Of the definition that it was begun for. */
  readonly definitionRevision: string;
  readonly label: string;
  readonly returnTo: string;
  readonly canonicalUrl: string;
  readonly issuer: string;
  readonly hasIssuerIdentifier: boolean;
  readonly isIssParameterSupported: boolean;
  readonly endpoints: {
    readonly authorization: string;
    readonly token: string;
    readonly revocation: string | null;
    readonly jwks: string | null;
  };
  readonly metadataFetchedAt: number;
  readonly clientId: string;
  readonly clientSource: OAuthClient['source'];
  /** How it proves itself: the metadata that decided so is not read again. */
  readonly clientAuth: OAuthClient['auth']['method'];
  readonly redirectUri: string;
  readonly resource: string | null;
  readonly scopes: string;
  /** What the authorization server has to be shown: JSON text. */
  readonly claims?: string | undefined;
  /** Users are told first whose tokens go where. */
  readonly requiresConfirmation: boolean;
  readonly baseGeneration: number;
  /** Tokens are bound to a key of their own (RFC 9449). */
  readonly usesDpop?: boolean;
  /** Of the last time that the browser left. */
  readonly codeVerifier?: string;
  readonly nonce?: string;
  /** The key, as a private JWK: sealed here until the grant has it. */
  readonly dpopKey?: string;
  /** How the server took the new token. */
  readonly probeResult?: ProbeResult;
}

type FlowKey = Pick<OAuthFlowRecord, 'tenant' | 'userId' | 'serverId' | 'id'>;

export function sealPayload(keyring: Keyring, key: FlowKey, payload: FlowPayload): string {
  return keyring.seal(JSON.stringify(payload), toFlowSealContext(key));
}

/** Throws where it was sealed for another flow, user or server. */
export function openPayload(keyring: Keyring, flow: OAuthFlowRecord): FlowPayload {
  return JSON.parse(keyring.open(flow.sealed, toFlowSealContext(flow))) as FlowPayload;
}

const SECRET_BYTES = 32;

/** `state`, verifier, nonce and what a cookie holds: 256 bits that nobody can guess. */
export function createFlowSecret(random: Random): string {
  return Buffer.from(random.bytes(SECRET_BYTES)).toString('base64url');
}

/** All that the store knows of one. */
export function hashFlowSecret(secret: string): string {
  return createHash('sha256').update(secret).digest('base64url');
}

export function matchesFlowSecret(hash: string | null, secret: string | null): boolean {
  return hash !== null && secret !== null && areSecretsEqual(hash, hashFlowSecret(secret));
}

/** RFC 7636, section 4.2. */
export function s256(codeVerifier: string): string {
  return createHash('sha256').update(codeVerifier).digest('base64url');
}

interface FlowOutcome {
  /** Only from here: what ended meanwhile stays ended as it did. */
  readonly from: readonly FlowStatus[];
  readonly status: 'approved' | 'failed' | 'cancelled';
  readonly error?: FlowError;
  readonly payload?: FlowPayload;
}

/** Ends a flow and tells everybody who waits for it. False when it had ended already. */
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
