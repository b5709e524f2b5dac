import { httpStatus } from '@behalf/contracts';
import { type JsonObject, type Principal, createReplicatedCache, principalKey } from '@behalf/gateway';
import type { Cache, ChangeFeed } from '@behalf/gateway/ports';
import { type Clock, type Keyring, LruMap, type Random, isObject } from '@behalf/kernel';
import type { FastExchange } from '../../../http/route.ts';
import { type ClientEndpoint, endpointKey } from '../endpoint.ts';
import { type LegacyVersion, isLegacyVersion, singleHeader } from '../era.ts';
import { RpcFault, invalidRequest } from '../rpc.ts';
import { type SessionKey, callerSealContext, openJson } from '../sealed.ts';

/*
 * Sessions of legacy clients (MCP 2025-06-18, Streamable HTTP, session management). Invariants:
 * - The session id contains the negotiated state, sealed to the user, the issuer of their identity and the endpoint. Any replica
 *   serves the session, and no replica stores it.
 * - The id is no credential: the caller of each request is authenticated separately, and the id of another user does not open.
 * - A session that any replica ended is refused by all replicas within two seconds.
 */

/** The state that `initialize` negotiated. */
export interface McpSession {
  /** The sealed session id that the client sends. */
  readonly id: string;
  /** Identifies the session in the store. It grants no access. */
  readonly key: string;
  readonly version: LegacyVersion;
  readonly capabilities: JsonObject;
  readonly expiresAt: number;
  /** The mailbox address of the session. */
  readonly sessionKey: SessionKey;
}

const LIFETIME_MS = 24 * 3_600_000;
/** Opening a seal costs more than the rest of the work that the endpoint does for a call. */
const MAX_CACHED_SESSIONS = 10_000;
const MAX_ID_LENGTH = 4_096;

export type McpSessions = ReturnType<typeof createMcpSessions>;

export function createMcpSessions({
  keyring,
  clock,
  random,
}: {
  readonly keyring: Keyring;
  readonly clock: Clock;
  readonly random: Random;
}) {
  const cache = new LruMap<string, { session: McpSession; issuer: string; endpoint: string }>(
    MAX_CACHED_SESSIONS,
  );
  const toSealContext = (caller: Principal, endpoint: string) =>
    callerSealContext(caller, 'mcp-session', 'id', [caller.issuer, endpoint]);

  function store(session: McpSession, caller: Principal, endpoint: string): McpSession {
    cache.set(session.id, { session, issuer: caller.issuer, endpoint });
    return session;
  }

  function unseal(id: string, caller: Principal, endpoint: string): McpSession | undefined {
    const value = openJson(keyring, id, toSealContext(caller, endpoint), MAX_ID_LENGTH);
    if (!Array.isArray(value)) return undefined;
    const [key, version, capabilities, expiresAt] = value as unknown[];
    if (typeof key !== 'string' || typeof version !== 'string' || typeof expiresAt !== 'number')
      return undefined;
    if (!isLegacyVersion(version) || !isObject(capabilities)) return undefined;
    return { id, key, version, capabilities, expiresAt, sessionKey: sessionKeyOf(caller, key) };
  }

  return {
    begin(
      caller: Principal,
      endpoint: string,
      { version, capabilities }: Pick<McpSession, 'version' | 'capabilities'>,
    ): McpSession {
      const key = random.id();
      const expiresAt = clock.now() + LIFETIME_MS;
      const text = JSON.stringify([key, version, capabilities, expiresAt]);
      const id = keyring.seal(text, toSealContext(caller, endpoint));
      const sessionKey = sessionKeyOf(caller, key);
      return store({ id, key, version, capabilities, expiresAt, sessionKey }, caller, endpoint);
    },
    /** Undefined if the id is not a session of this caller at this endpoint. */
    open(id: string, caller: Principal, endpoint: string): McpSession | undefined {
      // `peek`: reordering the entries on every request would cost more than an occasional unseal.
      const cached = cache.peek(id);
      if (cached) {
        // Compares the user and the issuer, but not the token: clients refresh it during a session.
        const isOwner =
          cached.session.sessionKey.principal === principalKey(caller) && cached.issuer === caller.issuer;
        const isMatch = isOwner && cached.endpoint === endpoint;
        return isMatch && clock.now() < cached.session.expiresAt ? cached.session : undefined;
      }
      const session = unseal(id, caller, endpoint);
      if (!session || clock.now() >= session.expiresAt) return undefined;
      return store(session, caller, endpoint);
    },
  };
}

export function sessionKeyOf(caller: Principal, key: string): SessionKey {
  return { tenant: caller.tenant, principal: principalKey(caller), key };
}

interface SessionState {
  readonly isEnded: boolean;
  /** The level of `logging/setLevel`. */
  readonly logLevel: string | undefined;
}

const MAX_CACHED_STATES = 10_000;

export type SessionStates = ReturnType<typeof createSessionStates>;

/** The state of a session that changes after `initialize`. It is stored until the session expires. */
export function createSessionStates({
  cache,
  changes,
  clock,
}: {
  readonly cache: Cache;
  readonly changes: ChangeFeed;
  readonly clock: Clock;
}) {
  const states = createReplicatedCache<SessionState>({
    ...{ changes, clock, maxEntries: MAX_CACHED_STATES },
    affectedBy({ topic, id }) {
      if (topic !== 'mcpSessions') return undefined;
      return id === '*' ? 'all' : { key: id };
    },
  });

  async function load(key: string): Promise<SessionState> {
    const [isEnded, logLevel] = await Promise.all([cache.get(`ended:${key}`), cache.get(`level:${key}`)]);
    return { isEnded: isEnded !== undefined, logLevel };
  }

  async function write(name: string, value: string, { key, expiresAt }: McpSession): Promise<void> {
    await cache.set(`${name}:${key}`, value, Math.max(1, expiresAt - clock.now()));
    const change = { topic: 'mcpSessions', id: key } as const;
    states.invalidate(change);
    await changes.publish(change);
  }

  return {
    /** At most two seconds old. Without I/O if the state is cached. */
    read: ({ key }: McpSession): SessionState | Promise<SessionState> => states.read(key, () => load(key)),
    /** Ends the session at every replica. */
    end: (session: McpSession): Promise<void> => write('ended', '1', session),
    setLevel: (session: McpSession, level: string): Promise<void> => write('level', level, session),
    close: (): void => states.close(),
  };
}

export interface ActiveSession {
  readonly session: McpSession;
  readonly logLevel: string | undefined;
}

export type RequireSession = ReturnType<typeof createRequireSession>;

/** Returns the session of a request. Throws 400 without a session id, and 404 if the client must start a new session. */
export function createRequireSession({
  sessions,
  states,
}: {
  readonly sessions: McpSessions;
  readonly states: Pick<SessionStates, 'read'>;
}) {
  return async ({ req, caller }: FastExchange, endpoint: ClientEndpoint): Promise<ActiveSession> => {
    const id = singleHeader(req.headers, 'mcp-session-id');
    if (id === undefined) throw invalidRequest('Mcp-Session-Id is missing: send initialize first');
    const session = sessions.open(id, caller, endpointKey(endpoint));
    if (!session) throw sessionNotFound();
    const version = singleHeader(req.headers, 'mcp-protocol-version');
    if (version !== undefined && version !== session.version)
      throw invalidRequest(`MCP-Protocol-Version must be ${session.version}, the negotiated version`);
    const state = states.read(session);
    const { isEnded, logLevel } = state instanceof Promise ? await state : state;
    if (isEnded) throw sessionNotFound();
    return { session, logLevel };
  };
}

/** The same error for an unknown session, an ended session and a session of another user. */
function sessionNotFound(): RpcFault {
  const status = httpStatus('NOT_FOUND');
  return new RpcFault(-(31_000 + status), 'Session not found: send initialize to start a new session', {
    data: { code: 'NOT_FOUND' },
    status,
  });
}
