import { ClientRpcError, GatewayError, type JsonObject } from '@behalf/gateway';
import {
  type Cancellation,
  type Clock,
  type Keyring,
  type Random,
  abortReason,
  isObject,
} from '@behalf/kernel';
import { URL_ELICITATION_VERSION } from '../era.ts';
import type { Mailbox } from '../relay/mailbox.ts';
import { type RpcResponse, rpcCode } from '../rpc.ts';
import { sessionSealContext } from '../sealed.ts';
import type { Reply } from '../stream/reply.ts';
import type { McpSession } from './sessions.ts';

interface ClientRequestsParts {
  readonly mailbox: Pick<Mailbox, 'post' | 'wait'>;
  readonly keyring: Keyring;
  readonly clock: Clock;
  readonly random: Random;
}

/** The time that a user has to respond. */
const RESPONSE_TIMEOUT_MS = 10 * 60_000;
/** A response is a form that a user filled in, or text that a model generated. */
const MAX_RESPONSE_LENGTH = 256 * 1024;

export type ClientRequests = ReturnType<typeof createClientRequests>;

/**
 * Requests of servers to legacy clients during a call: elicitation, sampling and roots. The client sends its response with another
 * POST, possibly to another replica. The request id contains a MAC bound to the session, so the gateway accepts only responses
 * to requests that it sent in this session: a client cannot fill the store with others.
 */
export function createClientRequests({ mailbox, keyring, clock, random }: ClientRequestsParts) {
  return {
    /** Returns the function that sends requests on the response stream of a call. */
    createSender:
      ({ sessionKey, version }: McpSession, reply: Reply) =>
      (method: string, params: JsonObject, signal: Cancellation): Promise<JsonObject> =>
        new Promise((resolve, reject) => {
          if (signal.aborted) return reject(abortReason(signal));
          const nonce = random.id();
          const id = `${nonce}.${keyring.mac(nonce, sessionSealContext(sessionKey, 'mcp-client-request'))}`;
          const cleanUp = () => {
            stopWaiting();
            cancelTimer();
            signal.removeEventListener('abort', onAbort);
          };
          const onAbort = () => {
            cleanUp();
            reply.notify('notifications/cancelled', {
              requestId: id,
              reason: 'The request was canceled',
            });
            reject(abortReason(signal));
          };
          const onResponse = (message: string) => {
            cleanUp();
            const { result, error } = JSON.parse(message) as Partial<ClientResponse>;
            if (isObject(result)) {
              resolve(result);
              return;
            }
            const { code = rpcCode.internal, message: text = 'The client sent an invalid response' } =
              error ?? {};
            reject(new ClientRpcError(code, text));
          };
          const stopWaiting = mailbox.wait(sessionKey, `answer:${nonce}`, onResponse, { shouldPoll: true });
          const cancelTimer = clock.timer(RESPONSE_TIMEOUT_MS, () => {
            cleanUp();
            reject(new GatewayError('MCP_TIMEOUT', { detail: 'The client did not respond in time.' }));
          });
          signal.addEventListener('abort', onAbort);
          if (reply.sendRequest(id, method, adaptToProtocolVersion(version, method, params, nonce))) return;
          cleanUp();
          reject(new ClientRpcError(rpcCode.methodNotFound, 'This client does not accept requests'));
        }),
    /** Delivers the response of a client. Ignores responses to anything but a request of this session. */
    async handleResponse({ sessionKey }: McpSession, { id, outcome }: RpcResponse): Promise<void> {
      const separatorIndex = typeof id === 'string' ? id.indexOf('.') : -1;
      if (typeof id !== 'string' || separatorIndex < 0) return;
      const nonce = id.slice(0, separatorIndex);
      const context = sessionSealContext(sessionKey, 'mcp-client-request');
      if (!keyring.verifyMac(nonce, id.slice(separatorIndex + 1), context)) return;
      const message = JSON.stringify(outcome);
      const isWithinLimit = message.length <= MAX_RESPONSE_LENGTH;
      await mailbox.post(sessionKey, `answer:${nonce}`, isWithinLimit ? message : TOO_LARGE_RESPONSE);
    },
  };
}

/** Adapts an elicitation to the revision of the session, independent of the revision of the server. */
function adaptToProtocolVersion(
  version: string,
  method: string,
  params: JsonObject,
  nonce: string,
): JsonObject {
  if (method !== 'elicitation/create') return params;
  // Legacy URL elicitation requires an `elicitationId`. Modern servers send none.
  if (params['mode'] === 'url') return { elicitationId: nonce, ...params };
  const { mode: _mode, ...paramsWithoutMode } = params;
  return version >= URL_ELICITATION_VERSION ? params : paramsWithoutMode;
}

const TOO_LARGE_RESPONSE = JSON.stringify({
  error: { code: rpcCode.internal, message: 'The client response is too large' },
});

interface ClientResponse {
  readonly result: JsonObject;
  readonly error: { readonly code: number; readonly message: string };
}
