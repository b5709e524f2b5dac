import { createHash } from 'node:crypto';
import type { JsonObject, Principal } from '@behalf/gateway';
import { type Clock, type Keyring, isObject } from '@behalf/kernel';
import { type RpcFault, invalidParams } from './rpc.ts';
import { callerSealContext, openJson } from './sealed.ts';

/** A suspended call, the replica that runs it, and the round of input requests that the client answers. */
export interface SuspendedCallRef {
  readonly call: string;
  readonly replica: string;
  readonly round: number;
  readonly expiresAt: number;
}

/** The content of `requestState`, which a client returns when it retries a request with input responses. */
export interface RequestState {
  /** The `requestState` of the upstream server. */
  readonly upstream?: string;
  /** The number of times this call asked the user to sign in. */
  readonly promptCount?: number;
  /** The client's responses to the server that a sign-in interrupted. */
  readonly inputResponses?: JsonObject;
  /** The suspended call that waits for the responses. Only for legacy servers. */
  readonly suspendedCall?: SuspendedCallRef;
}

/** The request that a state belongs to. */
export interface RequestIdentity {
  readonly endpoint: string;
  readonly method: string;
  readonly params: JsonObject;
}

export type RequestStates = ReturnType<typeof createRequestStates>;

/** Time for the user to sign in or to fill in a form. */
const LIFETIME_MS = 15 * 60_000;
const MAX_STATE_LENGTH = 256 * 1024;

/**
 * Seals `requestState` (MCP 2026-07-28, multi round-trip requests). Clients are untrusted, so a state is bound to the user,
 * the endpoint, the method and the parameters. It does not open for another user, tool or arguments.
 */
export function createRequestStates({ keyring, clock }: { keyring: Keyring; clock: Clock }) {
  return {
    seal: (caller: Principal, request: RequestIdentity, state: RequestState): string =>
      keyring.seal(JSON.stringify([clock.now() + LIFETIME_MS, state]), toSealContext(caller, request)),
    /** Throws if the state is expired or belongs to another user or request. */
    open(caller: Principal, request: RequestIdentity, text: unknown): RequestState {
      const value = openJson(keyring, text, toSealContext(caller, request), MAX_STATE_LENGTH);
      const [expiresAt, state] = Array.isArray(value) ? (value as unknown[]) : [];
      if (typeof expiresAt !== 'number' || clock.now() >= expiresAt || !isObject(state))
        throw invalidRequestState();
      return state;
    },
  };
}

export function invalidRequestState(): RpcFault {
  return invalidParams('requestState does not belong to this request, or has expired');
}

function toSealContext(caller: Principal, { endpoint, method, params }: RequestIdentity) {
  return callerSealContext(caller, 'mcp-state', method, [endpoint, digestOf(params)]);
}

/** Covers the parameters that both attempts share. A retry adds the responses and the state, and may change `_meta`. */
function digestOf(params: JsonObject): string {
  const { _meta, inputResponses: _responses, requestState: _state, ...requested } = params;
  return createHash('sha256').update(canonicalJson(requested)).digest('base64url');
}

/** Serializes equal values to equal text, regardless of the order of their members. */
function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_key, inner: unknown) =>
    isObject(inner) ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1))) : inner,
  );
}
