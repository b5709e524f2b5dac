import { parseUrl } from '@behalf/contracts';
import type { Cancellation } from '@behalf/kernel';
import type { Json } from './upstream.ts';

/** What a definition must name before a server may ask for it: a user's model, a user's folders. */
export type Relay = 'sampling' | 'roots';

/**
 * What a server may ask of the caller in the middle of a request. `capabilities` are those that the caller declared and
 * that may be passed on: `bridgeable` alone makes them.
 */
export type Dialogue =
  | {
      readonly era: 'legacy';
      readonly capabilities: Json;
      /** Passes a request of the server on and waits for the answer; rejects with `PeerRefusal` where there was one. */
      readonly ask: (method: string, params: Json, signal: Cancellation) => Promise<Json>;
    }
  | {
      /** The caller gets the server's questions as a result and comes again with the answers. */
      readonly era: 'modern';
      readonly capabilities: Json;
    };

/** The caller answered a question of the server with an error of the protocol: it is passed on as it is. */
export class PeerRefusal extends Error {
  override readonly name = 'PeerRefusal';
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
export function sessionCapabilities(relay: readonly Relay[] = []): Json {
  return {
    elicitation: { form: {}, url: {} },
    ...(relay.includes('sampling') && { sampling: {} }),
    ...(relay.includes('roots') && { roots: {} }),
  };
}

/** What the caller declared, as far as this server may use it. */
export function bridgeable(declared: Json, relay: readonly Relay[]): Json {
  const { elicitation, sampling, roots } = declared;
  if (elicitation === undefined && sampling === undefined && roots === undefined) return NOTHING;
  const modes = isObject(elicitation) ? modesOf(elicitation) : {};
  return {
    ...(Object.keys(modes).length > 0 && { elicitation: modes }),
    ...(isObject(sampling) &&
      relay.includes('sampling') && { sampling: flags(sampling, ['context', 'tools']) }),
    ...(isObject(roots) && relay.includes('roots') && { roots: {} }),
  };
}

const NOTHING: Json = Object.freeze({});

/** Without a mode it is the form: the first revision knew no other. */
function modesOf(elicitation: Json): Json {
  const modes = flags(elicitation, ['form', 'url']);
  return Object.keys(elicitation).length === 0 ? { form: {} } : modes;
}

function flags(capability: Json, names: readonly string[]): Json {
  return Object.fromEntries(names.filter((name) => isObject(capability[name])).map((name) => [name, {}]));
}

/** Whether this very question may be put to who declared these capabilities. Whatever is not known may not. */
export function mayAsk(capabilities: Json, method: unknown, params: Json): boolean {
  switch (method) {
    case 'elicitation/create':
      return isObject(capabilities['elicitation']) && mayElicit(capabilities['elicitation'], params);
    case 'sampling/createMessage':
      return isObject(capabilities['sampling']);
    case 'roots/list':
      return isObject(capabilities['roots']);
    default:
      return false;
  }
}

function mayElicit(modes: Json, { mode, url }: Json): boolean {
  if (mode === undefined || mode === 'form') return isObject(modes['form']);
  // What else an address can be, a client might run.
  return mode === 'url' && isObject(modes['url']) && typeof url === 'string' && isWebAddress(url);
}

function isWebAddress(text: string): boolean {
  const protocol = parseUrl(text)?.protocol;
  return protocol === 'https:' || protocol === 'http:';
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** What a server gets for a request that nobody is asked. */
export type Reply =
  { readonly result: Json } | { readonly error: { readonly code: number; readonly message: string } };

const METHOD_NOT_FOUND = -32_601;
const INTERNAL_ERROR = -32_603;

/** A form is dismissed as if its user had closed it; a model and a file system are not ours to lend. */
export function replyOfNobody(method: unknown): Reply {
  if (method === 'ping') return { result: {} };
  if (method === 'elicitation/create') return { result: { action: 'cancel' } };
  return { error: { code: METHOD_NOT_FOUND, message: 'Method not found' } };
}

/** The same for one that was asked and did not answer, or not in a form that can be passed on. */
export function replyOfNoAnswer(method: unknown, error: unknown): Reply {
  if (error instanceof PeerRefusal) return { error: { code: error.code, message: error.message } };
  if (method === 'elicitation/create') return replyOfNobody(method);
  return { error: { code: INTERNAL_ERROR, message: 'The client did not answer' } };
}
