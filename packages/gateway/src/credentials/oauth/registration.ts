import { type Clock, HiddenText, type Keyring, type Leases, createSingleFlight, sleep } from '@behalf/kernel';
import {
  type OAuthClientKey,
  type OAuthClientRecord,
  type OAuthClientStore,
  oauthClientId,
  toOAuthClientSealContext,
} from '../../ports/index.ts';
import { withLease } from '../../replication/withLease.ts';
import type { Log } from '../../upstream/upstream.ts';
import type { ClientAuthentication, OAuthClient } from './clientAuthentication.ts';
import { buildRegistration } from './clientDocument.ts';
import { type AuthorizationServerMetadata, toNetworkError } from './metadata.ts';
import { type OAuthNetwork, withoutRedirects } from './network.ts';
import { SignInImpossible, type SignInTarget, createUnavailableError } from './signInTarget.ts';
import { type HttpResponse, parseJsonObject, sendRequest } from './tokenRequest.ts';

const LEASE_TTL_MS = 25_000;
const MAX_WAIT_MS = 30_000;
const POLL_INTERVAL_MS = 100;
/** A sign-in that starts now needs a client secret that stays valid until the callback. */
const EXPIRY_MARGIN_MS = 15 * 60 * 1000;

interface DynamicClientParts {
  readonly clients: OAuthClientStore;
  readonly leases: Leases;
  readonly keyring: Keyring;
  readonly clock: Clock;
  readonly log: Log;
  readonly network: OAuthNetwork;
  readonly baseUrl: () => string;
}

/** The server, its authorization server and the scopes of a registration. */
export interface RegistrationContext {
  readonly target: SignInTarget;
  readonly asMetadata: AuthorizationServerMetadata;
  readonly scopes: string;
}

/** Clients that authorization servers registered for the gateway (RFC 7591): one per issuer, server and redirect URI. */
export interface DynamicClients {
  /** The registered client. Null if none is registered, or its secret expires soon. */
  find(key: OAuthClientKey): Promise<OAuthClient | null>;
  /** The registered client, or a new one. Concurrent callers on all replicas share one registration. */
  obtain(key: OAuthClientKey, context: RegistrationContext): Promise<OAuthClient>;
  /**
   * Replaces a client that the authorization server no longer knows. The old client and its grants stay if the registration of the new
   * one fails.
   */
  reregister(key: OAuthClientKey, refusedClientId: string, context: RegistrationContext): Promise<void>;
  /** Removes the client with this id. A client that replaced it stays. */
  forget(key: OAuthClientKey, clientId: string): Promise<boolean>;
}

export function createDynamicClients(parts: DynamicClientParts): DynamicClients {
  const { clients, leases, keyring, clock, log } = parts;
  const singleFlight = createSingleFlight<OAuthClient>();

  async function find(key: OAuthClientKey): Promise<OAuthClient | null> {
    const record = await clients.find(key);
    return record && toUsableClient(record);
  }

  function toUsableClient(record: OAuthClientRecord): OAuthClient | null {
    if (record.expiresAt !== null && record.expiresAt - EXPIRY_MARGIN_MS < clock.now()) return null;
    try {
      const registration = JSON.parse(
        keyring.open(record.sealed, toOAuthClientSealContext(record)),
      ) as StoredRegistration;
      return { clientId: record.clientId, source: 'dynamic', auth: toClientAuth(registration) };
    } catch {
      // Sealed with a key that was removed. A new registration replaces it.
      log('oauth_client_unreadable', { server: record.serverId });
      return null;
    }
  }

  function toRecord(
    key: OAuthClientKey,
    { clientId, method, secret, expiresAt }: RegistrationResult,
  ): OAuthClientRecord {
    const storedRegistration: StoredRegistration = { method, ...(secret !== undefined && { secret }) };
    const record = { ...key, clientId };
    return {
      ...record,
      id: oauthClientId(key),
      sealed: keyring.seal(JSON.stringify(storedRegistration), toOAuthClientSealContext(record)),
      createdAt: clock.now(),
      expiresAt,
    };
  }

  /** False if another replica stored a usable client first. */
  async function storeRegistration(
    key: OAuthClientKey,
    registration: RegistrationResult,
    refusedClientId: string | undefined,
  ): Promise<boolean> {
    const record = toRecord(key, registration);
    const existing = await clients.find(key);
    if (!existing) return (await clients.insert(record)).clientId === record.clientId;
    if (existing.clientId !== refusedClientId && toUsableClient(existing)) return false;
    return clients.replace(record, existing.clientId);
  }

  /** Registers a client once for all replicas. The client with the id `refusedClientId` does not count as a result. */
  async function register(
    key: OAuthClientKey,
    { target, asMetadata, scopes }: RegistrationContext,
    refusedClientId?: string,
  ): Promise<OAuthClient> {
    const findUsable = async () => {
      const record = await clients.find(key);
      return (record && record.clientId !== refusedClientId ? toUsableClient(record) : null) ?? undefined;
    };
    const existing = await findUsable();
    if (existing) return existing;
    const leaseOptions = {
      ...({
        key: `oauth-client:${oauthClientId(key)}`,
        purpose: 'registration',
        ttlMs: LEASE_TTL_MS,
      } as const),
      waitMs: MAX_WAIT_MS,
      findResult: findUsable,
      wait: () => sleep(clock, POLL_INTERVAL_MS),
      onBusy: () => createUnavailableError(),
    };
    return withLease({ leases, clock }, leaseOptions, async () => {
      const registration = await requestRegistration(parts, target, asMetadata, {
        redirectUri: key.redirectUri,
        scopes,
      });
      log('oauth_client_registered', { server: target.server.name });
      if (await storeRegistration(key, registration, refusedClientId))
        return { clientId: registration.clientId, source: 'dynamic', auth: toClientAuth(registration) };
      const stored = await findUsable();
      if (!stored) throw createUnavailableError();
      return stored;
    });
  }

  return {
    find,
    async obtain(key, context) {
      const found = await find(key);
      if (found) return found;
      return singleFlight.run([oauthClientId(key)], () => register(key, context), { detached: true });
    },
    async reregister(key, refusedClientId, context) {
      const registerAgain = () => register(key, context, refusedClientId);
      await singleFlight.run([oauthClientId(key), refusedClientId], registerAgain, { detached: true });
    },
    forget: (key, clientId) => clients.remove(key, clientId),
  };
}

interface StoredRegistration {
  readonly method: RegistrationResult['method'];
  readonly secret?: string | undefined;
}

function toClientAuth({ method, secret }: StoredRegistration): ClientAuthentication {
  return method === 'none' ? { method } : { method, secret: new HiddenText(secret ?? '') };
}

const MAX_RESPONSE_BYTES = 64 * 1024;
const MAX_TEXT_LENGTH = 2_048;

interface RegistrationResult {
  readonly clientId: string;
  readonly method: 'none' | 'client_secret_basic' | 'client_secret_post';
  readonly secret: string | undefined;
  /** When the secret expires. Null: never. */
  readonly expiresAt: number | null;
}

/** Registers the gateway at an authorization server (RFC 7591, section 3). */
async function requestRegistration(
  { network, clock, baseUrl }: Pick<DynamicClientParts, 'network' | 'clock' | 'baseUrl'>,
  target: SignInTarget,
  { registrationEndpoint, issuer, authMethods }: AuthorizationServerMetadata,
  { redirectUri, scopes }: { readonly redirectUri: string; readonly scopes: string },
): Promise<RegistrationResult> {
  if (registrationEndpoint === null) throw new SignInImpossible('no_client');
  const clientMetadata = {
    ...buildRegistration(baseUrl(), redirectUri),
    token_endpoint_auth_method: selectAuthMethod(authMethods),
    ...(scopes !== '' && { scope: scopes }),
  };
  let response: HttpResponse;
  try {
    response = await sendRequest({
      url: registrationEndpoint,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(clientMetadata),
      fetch: withoutRedirects(network.fetchFor(target, issuer)),
      ...{ clock, maxBytes: MAX_RESPONSE_BYTES },
      needsBody: (code) => code === 200 || code === 201,
    });
  } catch (error) {
    throw toNetworkError(error, network.readError);
  }
  const { status, text = '' } = response;
  if (status >= 500 || status === 429) throw createUnavailableError();
  if (status !== 200 && status !== 201) throw new SignInImpossible('registration_refused');
  return parseRegistration(parseJsonObject(text));
}

/** `client_secret_basic` is the default of metadata without methods (RFC 8414, section 2). */
function selectAuthMethod(supported: readonly string[] | null): string {
  const preferred = ['client_secret_basic', 'client_secret_post', 'none'];
  return preferred.find((method) => supported?.includes(method)) ?? 'client_secret_basic';
}

/** RFC 7591, section 3.2.1: the method in the response applies, not the requested one. */
function parseRegistration(fields: Readonly<Record<string, unknown>> = {}): RegistrationResult {
  const { client_id: clientId, client_secret: secret, token_endpoint_auth_method: grantedMethod } = fields;
  const { client_secret_expires_at: secretExpiresAt } = fields;
  const method = grantedMethod ?? (secret === undefined ? 'none' : 'client_secret_basic');
  if (
    !isText(clientId) ||
    (secret !== undefined && !isText(secret)) ||
    (method !== 'none' && method !== 'client_secret_basic' && method !== 'client_secret_post') ||
    (method !== 'none' && secret === undefined)
  )
    throw new SignInImpossible('registration_refused');
  const expiresAt =
    typeof secretExpiresAt === 'number' && secretExpiresAt > 0 && secret !== undefined
      ? secretExpiresAt * 1_000
      : null;
  return { clientId, method, secret, expiresAt };
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && value.length <= MAX_TEXT_LENGTH;
}
