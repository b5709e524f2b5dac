import { principalKey, type JsonObject, type Principal } from '@behalf/gateway';
import type { Clock, Keyring, Random, SealContext } from '@behalf/kernel';
import { isObject } from '../rpcMessage.ts';
import type { SessionKey } from './mailbox.ts';
import { isLegacyVersion, type LegacyVersion } from '../versions.ts';

/** What a legacy client agreed on with us. All of it stands in the id that the client sends: no replica keeps it. */
export interface McpSession {
  /** As the client sends it. */
  readonly id: string;
  /** Names it wherever something is kept about it. It opens nothing. */
  readonly key: string;
  readonly version: LegacyVersion;
  readonly capabilities: JsonObject;
  readonly expiresAt: number;
  /** Where words for its requests are left. */
  readonly sessionKey: SessionKey;
}

export interface McpSessions {
  begin(
    caller: Principal,
    endpoint: string,
    negotiated: Pick<McpSession, 'version' | 'capabilities'>,
  ): McpSession;
  /** Undefined for what is no session of this caller at this endpoint, whatever else it may be. */
  open(id: string, caller: Principal, endpoint: string): McpSession | undefined;
}

export interface McpSessionParts {
  readonly keyring: Keyring;
  readonly clock: Clock;
  readonly random: Random;
}

const LIFETIME_MS = 24 * 3_600_000;
/** Opening a seal costs more than the rest of what the door does for a call. */
const MAX_CACHED_SESSIONS = 10_000;
const MAX_ID_LENGTH = 4_096;

/**
 * Sessions that any replica can serve: the id is sealed to its user and endpoint. It is no credential: whoever presents it
 * has shown who they are before, and of somebody else it does not open. A new token of the same user changes nothing.
 */
export function createMcpSessions({ keyring, clock, random }: McpSessionParts): McpSessions {
  const cache = new Map<string, { session: McpSession; issuer: string; endpoint: string }>();

  function store(session: McpSession, caller: Principal, endpoint: string): McpSession {
    if (cache.size >= MAX_CACHED_SESSIONS) cache.delete(cache.keys().next().value as string);
    cache.set(session.id, { session, issuer: caller.issuer, endpoint });
    return session;
  }

  return {
    begin(caller, endpoint, { version, capabilities }) {
      const key = random.id();
      const expiresAt = clock.now() + LIFETIME_MS;
      const text = JSON.stringify([key, version, capabilities, expiresAt]);
      const id = keyring.seal(text, toSealContext(caller, endpoint));
      const sessionKey = sessionKeyOf(caller, key);
      return store({ id, key, version, capabilities, expiresAt, sessionKey }, caller, endpoint);
    },
    open(id, caller, endpoint) {
      const cached = cache.get(id);
      if (cached) {
        // Who they are, and who vouches for them. Not by which token: that one is refreshed while the session goes on.
        const isOwner =
          cached.session.sessionKey.principal === principalKey(caller) && cached.issuer === caller.issuer;
        const isMatch = isOwner && cached.endpoint === endpoint;
        return isMatch && clock.now() < cached.session.expiresAt ? cached.session : undefined;
      }
      if (id.length > MAX_ID_LENGTH) return undefined;
      const session = unseal(keyring, id, caller, endpoint);
      if (!session || clock.now() >= session.expiresAt) return undefined;
      return store(session, caller, endpoint);
    },
  };
}

function unseal(keyring: Keyring, id: string, caller: Principal, endpoint: string): McpSession | undefined {
  let text: string;
  try {
    text = keyring.open(id, toSealContext(caller, endpoint));
  } catch {
    // Somebody else's, of another endpoint, of a key we no longer have, or made up: all the same to who sends it.
    return undefined;
  }
  const [key, version, capabilities, expiresAt] = JSON.parse(text) as unknown[];
  if (typeof key !== 'string' || typeof version !== 'string' || typeof expiresAt !== 'number')
    return undefined;
  if (!isLegacyVersion(version) || !isObject(capabilities)) return undefined;
  return { id, key, version, capabilities, expiresAt, sessionKey: sessionKeyOf(caller, key) };
}

export function sessionKeyOf(caller: Principal, key: string): SessionKey {
  return { tenant: caller.tenant, principal: principalKey(caller), key };
}

function toSealContext(caller: Principal, endpoint: string): SealContext {
  return {
    tenant: caller.tenant,
    principal: principalKey(caller),
    server: '-',
    kind: 'mcp-session',
    field: 'id',
    binding: [caller.issuer, endpoint],
  };
}
