import { httpStatus } from '@behalf/contracts';
import { type JsonObject, type Principal, principalKey } from '@behalf/gateway';
import { type Cache, type ChangeFeed, isCurrent } from '@behalf/gateway/ports';
import type { Clock, Keyring, Random, SealContext } from '@behalf/kernel';
import type { FastExchange } from '../../../http/route.ts';
import { type ClientEndpoint, endpointKey } from '../endpoint.ts';
import { type LegacyVersion, isLegacyVersion, singleHeader } from '../era.ts';
import { RpcFault, invalidRequest, isObject } from '../rpc.ts';
import type { SessionKey } from './mailbox.ts';

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

interface McpSessionParts {
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

/** What became of a session since it began. */
interface SessionState {
  readonly isEnded: boolean;
  /** Of `logging/setLevel`. */
  readonly logLevel: string | undefined;
}

export interface SessionStates {
  /** Without I/O while it is known; as old as everything else may be that was read (two seconds). */
  read(session: McpSession): SessionState | Promise<SessionState>;
  /** For good, on every replica. */
  end(session: McpSession): Promise<void>;
  setLevel(session: McpSession, level: string): Promise<void>;
  close(): void;
}

interface SessionStateParts {
  readonly cache: Cache;
  readonly changes: ChangeFeed;
  readonly clock: Clock;
}

const MAX_CACHED_STATES = 10_000;

/** The little that a session does not carry itself. What is here lives as long as the session could. */
export function createSessionStates({ cache, changes, clock }: SessionStateParts): SessionStates {
  const cachedStates = new Map<string, { state: SessionState; readAt: number }>();
  /** Counts notices: what was read before one may be what it told about. */
  let epoch = 0;
  const unsubscribe = changes.subscribe(({ topic, id }) => {
    if (topic !== 'mcpSessions') return;
    epoch += 1;
    if (id === '*') cachedStates.clear();
    else cachedStates.delete(id);
  });

  async function load({ key }: McpSession): Promise<SessionState> {
    const startEpoch = epoch;
    const readAt = clock.now();
    const [isEnded, logLevel] = await Promise.all([cache.get(`ended:${key}`), cache.get(`level:${key}`)]);
    const state = { isEnded: isEnded !== undefined, logLevel };
    if (startEpoch !== epoch) return state;
    if (cachedStates.size >= MAX_CACHED_STATES)
      cachedStates.delete(cachedStates.keys().next().value as string);
    cachedStates.set(key, { state, readAt });
    return state;
  }

  async function write(name: string, value: string, { key, expiresAt }: McpSession): Promise<void> {
    await cache.set(`${name}:${key}`, value, Math.max(1, expiresAt - clock.now()));
    cachedStates.delete(key);
    await changes.publish({ topic: 'mcpSessions', id: key });
  }

  return {
    read(session) {
      const cached = cachedStates.get(session.key);
      return cached && isCurrent(changes, clock.now(), cached.readAt) ? cached.state : load(session);
    },
    end: (session) => write('ended', '1', session),
    setLevel: (session, level) => write('level', level, session),
    close: unsubscribe,
  };
}

export interface ActiveSession {
  readonly session: McpSession;
  /** As the client set it. */
  readonly logLevel: string | undefined;
}

interface RequireSessionParts {
  readonly sessions: McpSessions;
  readonly states: Pick<SessionStates, 'read'>;
}

/** The session a request belongs to. Without one it is refused, and with one that has ended it is told to begin anew. */
export function createRequireSession({ sessions, states }: RequireSessionParts) {
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

/** The same for what never was one, what was ended and what is somebody else's. */
function sessionNotFound(): RpcFault {
  const status = httpStatus('NOT_FOUND');
  return new RpcFault(-(31_000 + status), 'Session not found: send initialize to start a new session', {
    data: { code: 'NOT_FOUND' },
    status,
  });
}
