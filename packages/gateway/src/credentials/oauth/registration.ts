import {
  type Clock,
  type Fetch,
  HiddenText,
  type Keyring,
  type Leases,
  createSingleFlight,
  sleep,
  withTimeout,
} from '@behalf/kernel';
import {
  type OAuthClientKey,
  type OAuthClientRecord,
  type OAuthClientStore,
  oauthClientId,
  toOAuthClientSealContext,
} from '../../ports/index.ts';
import type { Log } from '../../upstream/upstream.ts';
import type { ClientAuthentication, OAuthClient } from './clientAuthentication.ts';
import { buildRegistration } from './clientDocument.ts';
import { type AuthorizationServerMetadata, toNetworkError } from './metadata.ts';
import type { OAuthNetwork } from './network.ts';
import { SignInImpossible, type SignInTarget, createUnavailableError } from './signInTarget.ts';

const LEASE_TTL_MS = 25_000;
const MAX_WAIT_MS = 30_000;
const POLL_INTERVAL_MS = 100;
/** A secret that is over in a moment is of no use for a sign-in that begins now. */
const EXPIRY_MARGIN_MS = 15 * 60 * 1000;

interface DynamicClientParts extends RegistrationParts {
  readonly clients: OAuthClientStore;
  readonly leases: Leases;
  readonly keyring: Keyring;
  readonly clock: Clock;
  readonly log: Log;
}

/** Clients that authorization servers registered for us (RFC 7591): one for each issuer, server and redirect address. */
export interface DynamicClients {
  /** The registered one; null where there is none that is good for a while yet. */
  find(key: OAuthClientKey): Promise<OAuthClient | null>;
  /** The registered one, or a new one: once, whoever asks at the same time. */
  obtain(
    key: OAuthClientKey,
    target: SignInTarget,
    asMetadata: AuthorizationServerMetadata,
    scopes: string,
  ): Promise<OAuthClient>;
  /**
   * The one with this id is not known there any more. Another is registered first and then takes its place, for everybody at
   * once: where none is to be had the old one stays, and so does what was given to it.
   */
  reregister(
    key: OAuthClientKey,
    clientId: string,
    target: SignInTarget,
    asMetadata: AuthorizationServerMetadata,
    scopes: string,
  ): Promise<void>;
  /** It is not known there any more. Only this one goes: another may have taken its place. */
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
      // Sealed with a key that is not ours any more. Another registration takes its place.
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

  /** False: one that somebody registered meanwhile counts, and this one is nobody's. */
  async function storeRegistration(
    key: OAuthClientKey,
    registration: RegistrationResult,
    refusedClientId?: string,
  ): Promise<boolean> {
    const record = toRecord(key, registration);
    const existing = await clients.find(key);
    if (!existing) return (await clients.insert(record)).clientId === record.clientId;
    if (existing.clientId !== refusedClientId && toUsableClient(existing)) return false;
    return clients.replace(record, existing.clientId);
  }

  /**
   * Once for all processes: whoever does not hold the lease waits for what its holder brings. `refused`: of one that is no
   * answer.
   */
  async function register(
    key: OAuthClientKey,
    target: SignInTarget,
    asMetadata: AuthorizationServerMetadata,
    scopes: string,
    refusedClientId?: string,
  ): Promise<OAuthClient> {
    const deadline = clock.now() + MAX_WAIT_MS;
    const findUsable = async () => {
      const record = await clients.find(key);
      return record && record.clientId !== refusedClientId ? toUsableClient(record) : null;
    };
    for (;;) {
      const found = await findUsable();
      if (found) return found;
      if (clock.now() > deadline) throw createUnavailableError();
      const lease = await leases.acquire(`oauth-client:${oauthClientId(key)}`, 'registration', LEASE_TTL_MS);
      if (!lease) {
        await sleep(clock, POLL_INTERVAL_MS);
        continue;
      }
      try {
        // Who held it before may just have done it.
        const concurrentClient = await findUsable();
        if (concurrentClient) return concurrentClient;
        const request = { redirectUri: key.redirectUri, scopes };
        const registration = await requestRegistration(parts, target, asMetadata, request);
        log('oauth_client_registered', { server: target.server.name });
        if (await storeRegistration(key, registration, refusedClientId)) {
          return { clientId: registration.clientId, source: 'dynamic', auth: toClientAuth(registration) };
        }
      } finally {
        await lease.release();
      }
    }
  }

  return {
    find,
    async obtain(key, target, asMetadata, scopes) {
      const found = await find(key);
      if (found) return found;
      return singleFlight.run([oauthClientId(key)], () => register(key, target, asMetadata, scopes), {
        detached: true,
      });
    },
    async reregister(key, clientId, target, asMetadata, scopes) {
      const registerAgain = () => register(key, target, asMetadata, scopes, clientId);
      await singleFlight.run([oauthClientId(key), clientId], registerAgain, { detached: true });
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

const TIMEOUT_MS = 10_000;
const MAX_BYTES = 64 * 1024;
const MAX_TEXT_LENGTH = 2_048;

interface RegistrationParts {
  readonly network: OAuthNetwork;
  readonly clock: Clock;
  readonly baseUrl: () => string;
}

/** What came of a registration. */
interface RegistrationResult {
  readonly clientId: string;
  readonly method: 'none' | 'client_secret_basic' | 'client_secret_post';
  readonly secret: string | undefined;
  /** When the secret is over. */
  readonly expiresAt: number | null;
}

/** Registers us at an authorization server (RFC 7591, section 3). */
async function requestRegistration(
  { network, clock, baseUrl }: RegistrationParts,
  target: SignInTarget,
  asMetadata: AuthorizationServerMetadata,
  { redirectUri, scopes }: { readonly redirectUri: string; readonly scopes: string },
): Promise<RegistrationResult> {
  const { registrationEndpoint } = asMetadata;
  if (registrationEndpoint === null) throw new SignInImpossible('no_client');
  const clientMetadata = {
    ...buildRegistration(baseUrl(), redirectUri),
    token_endpoint_auth_method: selectAuthMethod(asMetadata.authMethods),
    ...(scopes !== '' && { scope: scopes }),
  };
  const fetch = network.fetchFor(target, asMetadata.issuer);
  const response = await postRegistration(fetch, registrationEndpoint, clientMetadata, { network, clock });
  return parseRegistration(response);
}

function selectAuthMethod(supported: readonly string[] | null): string {
  const preferred = ['client_secret_basic', 'client_secret_post', 'none'];
  // Absent means the first (RFC 8414, section 2).
  return preferred.find((method) => supported?.includes(method)) ?? 'client_secret_basic';
}

type SendParts = Pick<RegistrationParts, 'network' | 'clock'>;

async function postRegistration(
  fetch: Fetch,
  url: string,
  clientMetadata: unknown,
  { network, clock }: SendParts,
): Promise<unknown> {
  const abort = new AbortController();
  const work = (async () => {
    const response = await fetch(url, {
      method: 'POST',
      headers: { accept: 'application/json', 'content-type': 'application/json' },
      body: JSON.stringify(clientMetadata),
      redirect: 'error',
      signal: abort.signal,
    });
    const { status } = response;
    if (status !== 200 && status !== 201) {
      await response.body?.cancel();
      if (status >= 500 || status === 429) throw createUnavailableError();
      throw new SignInImpossible('registration_refused');
    }
    return JSON.parse(await readLimitedText(response)) as unknown;
  })();
  try {
    return await withTimeout(clock, TIMEOUT_MS, work, () => {
      abort.abort(new Error('the request timed out'));
      throw createUnavailableError();
    });
  } catch (error) {
    if (error instanceof SyntaxError) throw new SignInImpossible('registration_refused');
    throw toNetworkError(error, network.readError);
  }
}

async function readLimitedText(response: Response): Promise<string> {
  const bytes = await response.arrayBuffer();
  if (bytes.byteLength > MAX_BYTES) throw new SignInImpossible('registration_refused');
  return Buffer.from(bytes).toString('utf8');
}

/** The method that it gave counts, and not the one that was wished for (RFC 7591, section 3.2.1). */
function parseRegistration(response: unknown): RegistrationResult {
  const fields =
    typeof response === 'object' && response !== null ? (response as Record<string, unknown>) : {};
  const { client_id: clientId, client_secret: secret, token_endpoint_auth_method: grantedMethod } = fields;
  const { client_secret_expires_at: secretExpiresAt } = fields;
  if (!isText(clientId) || (secret !== undefined && !isText(secret))) {
    throw new SignInImpossible('registration_refused');
  }
  const method = grantedMethod ?? (secret === undefined ? 'none' : 'client_secret_basic');
  if (method !== 'none' && method !== 'client_secret_basic' && method !== 'client_secret_post') {
    throw new SignInImpossible('registration_refused');
  }
  if (method !== 'none' && secret === undefined) throw new SignInImpossible('registration_refused');
  const expiresAt =
    typeof secretExpiresAt === 'number' && secretExpiresAt > 0 && secret !== undefined
      ? secretExpiresAt * 1_000
      : null;
  return { clientId, method, secret, expiresAt };
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && value.length <= MAX_TEXT_LENGTH;
}
