import { parseUrl } from '@behalf/contracts';
import { type Cancellation, LightCancellation } from '@behalf/kernel';
import type { JsonObject } from './upstream.ts';

/** What a definition must name before a server may ask for it: a user's model, a user's folders. */
export type RelayedCapability = 'sampling' | 'roots';

/**
 * What a server may ask of the caller in the middle of a request. `capabilities` are those that the caller declared and
 * that may be passed on: `bridgeable` alone makes them.
 */
export type Dialogue =
  | {
      readonly era: 'legacy';
      readonly capabilities: JsonObject;
      /** Passes a request of the server on and waits for the answer; rejects with `ClientRpcError` where there was one. */
      readonly sendRequest: (method: string, params: JsonObject, signal: Cancellation) => Promise<JsonObject>;
    }
  | {
      /** The caller gets the server's questions as a result and comes again with the answers. */
      readonly era: 'modern';
      readonly capabilities: JsonObject;
    };

/** The caller answered a question of the server with an error of the protocol: it is passed on as it is. */
export class ClientRpcError extends Error {
  override readonly name = 'ClientRpcError';
  readonly code: number;
  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

/**
 * What we say we can do when a session opens. A question that cannot be put to anybody is answered as if its user had
 * closed it, so that a form may always be claimed; a model or folders are claimed only where they may be lent.
 */
export function buildSessionCapabilities(relay: readonly RelayedCapability[] = []): JsonObject {
  return {
    elicitation: { form: {}, url: {} },
    ...(relay.includes('sampling') && { sampling: {} }),
    ...(relay.includes('roots') && { roots: {} }),
  };
}

/** What the caller declared, as far as this server may use it. */
export function filterCapabilities(
  declaredCapabilities: JsonObject,
  relay: readonly RelayedCapability[],
): JsonObject {
  const { elicitation, sampling, roots } = declaredCapabilities;
  if (elicitation === undefined && sampling === undefined && roots === undefined) return NO_CAPABILITIES;
  const modes = isObject(elicitation) ? readElicitationModes(elicitation) : {};
  return {
    ...(Object.keys(modes).length > 0 && { elicitation: modes }),
    ...(isObject(sampling) &&
      relay.includes('sampling') && { sampling: pickFlags(sampling, ['context', 'tools']) }),
    ...(isObject(roots) && relay.includes('roots') && { roots: {} }),
  };
}

const NO_CAPABILITIES: JsonObject = Object.freeze({});

/** Without a mode it is the form: the first revision knew no other. */
function readElicitationModes(elicitation: JsonObject): JsonObject {
  const modes = pickFlags(elicitation, ['form', 'url']);
  return Object.keys(elicitation).length === 0 ? { form: {} } : modes;
}

function pickFlags(capability: JsonObject, names: readonly string[]): JsonObject {
  return Object.fromEntries(names.filter((name) => isObject(capability[name])).map((name) => [name, {}]));
}

/** Whether this very question may be put to who declared these capabilities. Whatever is not known may not. */
export function isServerRequestAllowed(
  capabilities: JsonObject,
  method: unknown,
  params: JsonObject,
): boolean {
  switch (method) {
    case 'elicitation/create':
      return (
        isObject(capabilities['elicitation']) && isElicitationAllowed(capabilities['elicitation'], params)
      );
    case 'sampling/createMessage':
      return isObject(capabilities['sampling']);
    case 'roots/list':
      return isObject(capabilities['roots']);
    default:
      return false;
  }
}

function isElicitationAllowed(modes: JsonObject, { mode, url }: JsonObject): boolean {
  if (mode === undefined || mode === 'form') return isObject(modes['form']);
  // What else an address can be, a client might run.
  return mode === 'url' && isObject(modes['url']) && typeof url === 'string' && isHttpUrl(url);
}

function isHttpUrl(text: string): boolean {
  const protocol = parseUrl(text)?.protocol;
  return protocol === 'https:' || protocol === 'http:';
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** What a server gets for a request that nobody is asked. */
export type RpcResponseBody =
  { readonly result: JsonObject } | { readonly error: { readonly code: number; readonly message: string } };

const METHOD_NOT_FOUND = -32_601;
const INTERNAL_ERROR = -32_603;

/** A form is dismissed as if its user had closed it; a model and a file system are not ours to lend. */
export function createDefaultResponse(method: unknown): RpcResponseBody {
  if (method === 'ping') return { result: {} };
  if (method === 'elicitation/create') return { result: { action: 'cancel' } };
  return { error: { code: METHOD_NOT_FOUND, message: 'Method not found' } };
}

/** The same for one that was asked and did not answer, or not in a form that can be passed on. */
export function createFailureResponse(method: unknown, error: unknown): RpcResponseBody {
  if (error instanceof ClientRpcError) return { error: { code: error.code, message: error.message } };
  if (method === 'elicitation/create') return createDefaultResponse(method);
  return { error: { code: INTERNAL_ERROR, message: 'The client did not respond' } };
}

/** The longest a call lasts when people are asked in it. */
export const MAX_DIALOGUE_MS = 600_000;

/** Questions of one call in all, and those that wait at once: a server must not wear a user down. */
const MAX_REQUESTS_PER_CALL = 16;
const MAX_CONCURRENT_REQUESTS = 4;
/** A picture fits in. */
const MAX_TEXT_LENGTH = 1024 * 1024;

/** The questions of one call, and the one who may be asked them. */
export interface ServerRequests {
  /** Never rejects: a server always gets a reply. Undefined: nobody is asked this. */
  forward(id: unknown, method: unknown, params: JsonObject): Promise<RpcResponseBody> | undefined;
  /** The server took a question back. */
  cancel(id: unknown): void;
  /** The call is over, whichever way: nobody waits for an answer any more. */
  readonly close: () => void;
}

interface ServerRequestsParts {
  readonly dialogue: Extract<Dialogue, { era: 'legacy' }>;
  /** Time that a person takes is not the server's silence. */
  readonly withPausedTimeout: <T>(userResponse: Promise<T>) => Promise<T>;
}

export function createServerRequests({ dialogue, withPausedTimeout }: ServerRequestsParts): ServerRequests {
  const pendingRequests = new Map<unknown, LightCancellation>();
  let requestCount = 0;
  let isClosed = false;

  async function forwardToClient(id: unknown, method: string, params: JsonObject): Promise<RpcResponseBody> {
    const signal = new LightCancellation();
    requestCount += 1;
    pendingRequests.set(id, signal);
    try {
      const result = await withPausedTimeout(dialogue.sendRequest(method, params, signal));
      return JSON.stringify(result).length > MAX_TEXT_LENGTH
        ? createFailureResponse(method, undefined)
        : { result };
    } catch (error) {
      return createFailureResponse(method, error);
    } finally {
      pendingRequests.delete(id);
    }
  }

  return {
    forward(id, method, params) {
      if (
        isClosed ||
        requestCount >= MAX_REQUESTS_PER_CALL ||
        pendingRequests.size >= MAX_CONCURRENT_REQUESTS ||
        pendingRequests.has(id)
      )
        return undefined;
      if (typeof method !== 'string' || !isServerRequestAllowed(dialogue.capabilities, method, params))
        return undefined;
      return JSON.stringify(params).length > MAX_TEXT_LENGTH
        ? undefined
        : forwardToClient(id, method, params);
    },
    cancel: (id) =>
      pendingRequests.get(id)?.abort(new DOMException('The server canceled the request', 'AbortError')),
    close() {
      isClosed = true;
      for (const signal of pendingRequests.values()) {
        signal.abort(new DOMException('The call has ended', 'AbortError'));
      }
    },
  };
}
