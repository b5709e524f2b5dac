import { createSingleFlight, HiddenText, sleep, type Clock, type Keyring, type Leases } from '@behalf/kernel';
import {
  oauthClientContext,
  oauthClientId,
  type OAuthClientKey,
  type OAuthClientRecord,
  type OAuthClientStore,
} from '../../../ports/index.ts';
import type { Log } from '../../../upstream/parts.ts';
import type { AuthorizationServer } from '../discovery/authorizationServer.ts';
import type { ClientProof, OAuthClient } from '../oauthClient.ts';
import { authorizationServerAway } from '../signInProblem.ts';
import type { SignInTarget } from '../signInTarget.ts';
import { requestRegistration, type Registered, type RegistrationParts } from './requestRegistration.ts';

const LEASE_MS = 25_000;
const WAIT_MS = 30_000;
const LOOK_MS = 100;
/** A secret that is over in a moment is of no use for a sign-in that begins now. */
const MARGIN_MS = 15 * 60 * 1000;

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
    as: AuthorizationServer,
    scopes: string,
  ): Promise<OAuthClient>;
  /**
   * The one with this id is not known there any more. Another is registered first and then takes its place, for everybody at
   * once: where none is to be had the old one stays, and so does what was given to it.
   */
  renew(
    key: OAuthClientKey,
    clientId: string,
    target: SignInTarget,
    as: AuthorizationServer,
    scopes: string,
  ): Promise<void>;
  /** It is not known there any more. Only this one goes: another may have taken its place. */
  forget(key: OAuthClientKey, clientId: string): Promise<boolean>;
}

export function createDynamicClients(parts: DynamicClientParts): DynamicClients {
  const { clients, leases, keyring, clock, log } = parts;
  const flights = createSingleFlight<OAuthClient>();

  async function find(key: OAuthClientKey): Promise<OAuthClient | null> {
    const record = await clients.find(key);
    return record && usable(record);
  }

  function usable(record: OAuthClientRecord): OAuthClient | null {
    if (record.expiresAt !== null && record.expiresAt - MARGIN_MS < clock.now()) return null;
    try {
      const kept = JSON.parse(keyring.open(record.sealed, oauthClientContext(record))) as KeptRegistration;
      return { clientId: record.clientId, source: 'dynamic', proof: proofOf(kept) };
    } catch {
      // Sealed with a key that is not ours any more. Another registration takes its place.
      log('oauth_client_unreadable', { server: record.serverId });
      return null;
    }
  }

  function recordOf(
    key: OAuthClientKey,
    { clientId, method, secret, expiresAt }: Registered,
  ): OAuthClientRecord {
    const kept: KeptRegistration = { method, ...(secret !== undefined && { secret }) };
    const record = { ...key, clientId };
    return {
      ...record,
      id: oauthClientId(key),
      sealed: keyring.seal(JSON.stringify(kept), oauthClientContext(record)),
      createdAt: clock.now(),
      expiresAt,
    };
  }

  /** False: one that somebody registered meanwhile counts, and this one is nobody's. */
  async function store(key: OAuthClientKey, registered: Registered, refused?: string): Promise<boolean> {
    const record = recordOf(key, registered);
    const before = await clients.find(key);
    if (!before) return (await clients.insert(record)).clientId === record.clientId;
    if (before.clientId !== refused && usable(before)) return false;
    return clients.replace(record, before.clientId);
  }

  /**
   * Once for all processes: whoever does not hold the lease waits for what its holder brings. `refused`: of one that is no
   * answer.
   */
  async function register(
    key: OAuthClientKey,
    target: SignInTarget,
    as: AuthorizationServer,
    scopes: string,
    refused?: string,
  ): Promise<OAuthClient> {
    const deadline = clock.now() + WAIT_MS;
    const find = async () => {
      const record = await clients.find(key);
      return record && record.clientId !== refused ? usable(record) : null;
    };
    for (;;) {
      const found = await find();
      if (found) return found;
      if (clock.now() > deadline) throw authorizationServerAway();
      const lease = await leases.acquire(`oauth-client:${oauthClientId(key)}`, 'registration', LEASE_MS);
      if (!lease) {
        await sleep(clock, LOOK_MS);
        continue;
      }
      try {
        // Who held it before may just have done it.
        const meanwhile = await find();
        if (meanwhile) return meanwhile;
        const wish = { redirectUri: key.redirectUri, scopes };
        const registered = await requestRegistration(parts, target, as, wish);
        log('oauth_client_registered', { server: target.server.name });
        if (await store(key, registered, refused)) {
          return { clientId: registered.clientId, source: 'dynamic', proof: proofOf(registered) };
        }
      } finally {
        await lease.release();
      }
    }
  }

  return {
    find,
    async obtain(key, target, as, scopes) {
      const found = await find(key);
      if (found) return found;
      return flights.run([oauthClientId(key)], () => register(key, target, as, scopes), { detached: true });
    },
    async renew(key, clientId, target, as, scopes) {
      const work = () => register(key, target, as, scopes, clientId);
      await flights.run([oauthClientId(key), clientId], work, { detached: true });
    },
    forget: (key, clientId) => clients.remove(key, clientId),
  };
}

interface KeptRegistration {
  readonly method: Registered['method'];
  readonly secret?: string | undefined;
}

function proofOf({ method, secret }: KeptRegistration): ClientProof {
  return method === 'none' ? { method } : { method, secret: new HiddenText(secret ?? '') };
}
