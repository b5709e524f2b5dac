import { createSingleFlight, HiddenText, sleep, type Clock, type Keyring, type Leases } from '@behalf/kernel';
import {
  toOAuthClientSealContext,
  oauthClientId,
  type OAuthClientKey,
  type OAuthClientRecord,
  type OAuthClientStore,
} from '../../../ports/index.ts';
import type { Log } from '../../../upstream/parts.ts';
import type { AuthorizationServerMetadata } from '../discovery/authorizationServerMetadata.ts';
import type { ClientAuthentication, OAuthClient } from '../oauthClient.ts';
import { createUnavailableError } from '../signInProblem.ts';
import type { SignInTarget } from '../signInTarget.ts';
import {
  requestRegistration,
  type RegistrationResult,
  type RegistrationParts,
} from './requestRegistration.ts';

const LEASE_TTL_MS = 25_000;
const MAX_WAIT_MS = 30_000;
const POLL_INTERVAL_MS = 100;
/** A secret that is over in a moment is of no use for a sign-in that begins now. */
const EXPIRY_MARGIN_MS = 15 * 60 * 1000;

export interface DynamicClientParts extends RegistrationParts {
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
