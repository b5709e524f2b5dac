import { createHash } from 'node:crypto';
import { type JsonObject, type Principal, principalKey } from '@behalf/gateway';
import type { Clock, Keyring, SealContext } from '@behalf/kernel';
import { RpcFault, isObject, rpcCode } from './rpc.ts';

/** Which call a state belongs to, where it waits, and for which of its rounds. */
export interface SuspendedCallRef {
  readonly call: string;
  readonly replica: string;
  readonly round: number;
  /** It waits no longer than this. */
  readonly expiresAt: number;
}

/** What a client gives back with a retried request. */
export interface RequestState {
  /** What the server itself gave us, for the server alone. */
  readonly upstream?: string;
  /** How often this user was asked to connect for this call. */
  readonly promptCount?: number;
  /** What the client had answered to the server when its user was asked to connect. */
  readonly inputResponses?: JsonObject;
  /** The call that waits for the answers, where the server is one that waits. */
  readonly suspendedCall?: SuspendedCallRef;
}

export interface RequestStates {
  seal(caller: Principal, request: RequestIdentity, state: RequestState): string;
  /** Throws for whatever is not ours, of this caller, for this very request, and fresh. */
  open(caller: Principal, request: RequestIdentity, text: unknown): RequestState;
}

/** The request that a state belongs to. */
export interface RequestIdentity {
  readonly endpoint: string;
  readonly method: string;
  readonly params: JsonObject;
}

/** Somebody has to sign in somewhere, or to fill in a form. */
const LIFETIME_MS = 15 * 60_000;
const MAX_STATE_LENGTH = 256 * 1024;

/**
 * `requestState` as clients hold it. It passes through hands that we do not trust, so it is sealed to whoever was asked, to
 * the method and to what it was asked with: it opens nothing for another user, another tool or other arguments.
 */
export function createRequestStates({ keyring, clock }: { keyring: Keyring; clock: Clock }): RequestStates {
  return {
    seal: (caller, request, state) =>
      keyring.seal(JSON.stringify([clock.now() + LIFETIME_MS, state]), toSealContext(caller, request)),
    open(caller, request, text) {
      if (typeof text !== 'string' || text.length > MAX_STATE_LENGTH) throw invalidRequestState();
      let value: unknown;
      try {
        value = JSON.parse(keyring.open(text, toSealContext(caller, request)));
      } catch {
        throw invalidRequestState();
      }
      const [expiresAt, state] = Array.isArray(value) ? (value as unknown[]) : [];
      if (typeof expiresAt !== 'number' || clock.now() >= expiresAt || !isObject(state))
        throw invalidRequestState();
      return state;
    },
  };
}

export function invalidRequestState(): RpcFault {
  return new RpcFault(rpcCode.invalidParams, 'requestState does not belong to this request, or has expired');
}

function toSealContext(caller: Principal, { endpoint, method, params }: RequestIdentity): SealContext {
  return {
    tenant: caller.tenant,
    principal: principalKey(caller),
    server: '-',
    kind: 'mcp-state',
    field: method,
    binding: [endpoint, digestOf(params)],
  };
}

/** Of everything that says what is asked for; what a retry adds, and what each message says of itself, is not that. */
function digestOf(params: JsonObject): string {
  const { _meta, inputResponses: _responses, requestState: _state, ...requested } = params;
  return createHash('sha256').update(canonicalJson(requested)).digest('base64url');
}

/** One text for equal values, whatever the order of their members. */
function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_key, inner: unknown) =>
    isObject(inner) ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1))) : inner,
  );
}
