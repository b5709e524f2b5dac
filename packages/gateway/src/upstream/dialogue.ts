import { parseUrl } from '@behalf/contracts';
import { type Cancellation, LightCancellation, isObject } from '@behalf/kernel';
import type { JsonObject } from './upstream.ts';

/*
 * Requests of a server to the caller during a request: elicitation, sampling, roots.
 *
 * - A request reaches the caller only if the caller declared the capability and, for sampling and roots, the
 *   definition of the server allows it. Everything else receives a default response.
 * - The number and size of requests per call are limited. A server always receives a response.
 */

/** Capabilities that a definition must allow: the user's model and the user's folders. */
export type RelayedCapability = 'sampling' | 'roots';

/** How a server can ask the caller. `capabilities` are those that `filterCapabilities` returns. */
export type Dialogue =
  | {
      readonly era: 'legacy';
      readonly capabilities: JsonObject;
      /** Forwards a request to the client. Rejects with `ClientRpcError` if the client returns an error. */
      readonly sendRequest: (method: string, params: JsonObject, signal: Cancellation) => Promise<JsonObject>;
    }
  | {
      /** The caller receives the request as a result and repeats its call with the answers. */
      readonly era: 'modern';
      readonly capabilities: JsonObject;
    };

/** A JSON-RPC error of the client. It is forwarded to the server unchanged. */
export class ClientRpcError extends Error {
  override readonly name = 'ClientRpcError';
  readonly code: number;
  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

/**
 * The capabilities that Behalf declares when a session opens. Elicitation is always declared: a form that no user can
 * answer is canceled. Sampling and roots are declared only if the definition allows them.
 */
export function buildSessionCapabilities(relay: readonly RelayedCapability[] = []): JsonObject {
  return {
    elicitation: { form: {}, url: {} },
    ...(relay.includes('sampling') && { sampling: {} }),
    ...(relay.includes('roots') && { roots: {} }),
  };
}

/** The declared capabilities of a caller that this server may use. */
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

/** An empty object means form mode, the only mode of the first revision with elicitation. */
function readElicitationModes(elicitation: JsonObject): JsonObject {
  return Object.keys(elicitation).length === 0 ? { form: {} } : pickFlags(elicitation, ['form', 'url']);
}

function pickFlags(capability: JsonObject, names: readonly string[]): JsonObject {
  return Object.fromEntries(names.filter((name) => isObject(capability[name])).map((name) => [name, {}]));
}

/** Whether the capabilities cover this request. Unknown methods and modes are denied. */
export function isServerRequestAllowed(
  capabilities: JsonObject,
  method: unknown,
  params: JsonObject,
): boolean {
  const { elicitation, sampling, roots } = capabilities;
  switch (method) {
    case 'elicitation/create':
      return isObject(elicitation) && isElicitationAllowed(elicitation, params);
    case 'sampling/createMessage':
      return isObject(sampling);
    case 'roots/list':
      return isObject(roots);
    default:
      return false;
  }
}

function isElicitationAllowed(modes: JsonObject, { mode, url }: JsonObject): boolean {
  if (mode === undefined || mode === 'form') return isObject(modes['form']);
  return mode === 'url' && isObject(modes['url']) && typeof url === 'string' && isHttpUrl(url);
}

/** A client might execute a URL with another scheme. */
function isHttpUrl(text: string): boolean {
  const protocol = parseUrl(text)?.protocol;
  return protocol === 'https:' || protocol === 'http:';
}

export type RpcResponseBody =
  { readonly result: JsonObject } | { readonly error: { readonly code: number; readonly message: string } };

const METHOD_NOT_FOUND = -32_601;
const INTERNAL_ERROR = -32_603;

/** The response to a request that is not forwarded. A form is canceled, as if the user had closed it. */
export function createDefaultResponse(method: unknown): RpcResponseBody {
  if (method === 'ping') return { result: {} };
  if (method === 'elicitation/create') return { result: { action: 'cancel' } };
  return { error: { code: METHOD_NOT_FOUND, message: 'Method not found' } };
}

/** The response if the client returned an error, no response, or one that is too large. */
export function createFailureResponse(method: unknown, error: unknown): RpcResponseBody {
  if (error instanceof ClientRpcError) return { error: { code: error.code, message: error.message } };
  if (method === 'elicitation/create') return createDefaultResponse(method);
  return { error: { code: INTERNAL_ERROR, message: 'The client did not respond' } };
}

/** Maximum duration of a call that waits for a user. */
export const MAX_DIALOGUE_MS = 600_000;

const MAX_REQUESTS_PER_CALL = 16;
const MAX_CONCURRENT_REQUESTS = 4;
/** Large enough for an image. */
const MAX_TEXT_LENGTH = 1024 * 1024;

export type ServerRequests = ReturnType<typeof createServerRequests>;

/** The requests of a server during one call. `withPausedTimeout` pauses the timeouts of the call for the user. */
export function createServerRequests(
  dialogue: Extract<Dialogue, { era: 'legacy' }>,
  withPausedTimeout: <T>(userResponse: Promise<T>) => Promise<T>,
) {
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
    /** Forwards a request to the client. Never rejects. Undefined if it is not allowed or exceeds a limit. */
    forward(id: unknown, method: unknown, params: JsonObject): Promise<RpcResponseBody> | undefined {
      const isLimited =
        isClosed ||
        requestCount >= MAX_REQUESTS_PER_CALL ||
        pendingRequests.size >= MAX_CONCURRENT_REQUESTS ||
        pendingRequests.has(id);
      if (isLimited || typeof method !== 'string') return undefined;
      if (!isServerRequestAllowed(dialogue.capabilities, method, params)) return undefined;
      if (JSON.stringify(params).length > MAX_TEXT_LENGTH) return undefined;
      return forwardToClient(id, method, params);
    },
    /** The server canceled a request. */
    cancel(id: unknown): void {
      pendingRequests.get(id)?.abort(new DOMException('The server canceled the request', 'AbortError'));
    },
    /** The call has ended. Aborts pending requests. */
    close: (): void => {
      isClosed = true;
      for (const signal of pendingRequests.values())
        signal.abort(new DOMException('The call has ended', 'AbortError'));
    },
  };
}
