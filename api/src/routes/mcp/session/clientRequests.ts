import { ClientRpcError, GatewayError, type JsonObject } from '@behalf/gateway';
import {
  type Cancellation,
  type Clock,
  type Keyring,
  type Random,
  type SealContext,
  abortReason,
} from '@behalf/kernel';
import { URL_ELICITATION_VERSION } from '../era.ts';
import { type RpcResponse, isObject, rpcCode } from '../rpc.ts';
import type { Reply } from '../stream/reply.ts';
import type { Mailbox, SessionKey } from './mailbox.ts';
import type { McpSession } from './sessions.ts';

type SendClientRequest = (method: string, params: JsonObject, signal: Cancellation) => Promise<JsonObject>;

/** Requests to legacy clients in the middle of a call. The answer comes with another request, at whichever replica. */
export interface ClientRequests {
  /** How this call's client can be asked. */
  createSender(session: McpSession, reply: Reply): SendClientRequest;
  /** What a client sent as an answer. Nothing happens unless it was asked, in this session. */
  handleResponse(session: McpSession, response: RpcResponse): Promise<void>;
}

interface ClientRequestsParts {
  readonly mailbox: Pick<Mailbox, 'post' | 'wait'>;
  readonly keyring: Keyring;
  readonly clock: Clock;
  readonly random: Random;
}

/** For how long somebody may think about it. */
const RESPONSE_TIMEOUT_MS = 10 * 60_000;
/** An answer is text that a person typed, or that a model wrote. */
const MAX_RESPONSE_LENGTH = 256 * 1024;

export function createClientRequests({
  mailbox,
  keyring,
  clock,
  random,
}: ClientRequestsParts): ClientRequests {
  return {
    createSender:
      ({ sessionKey, version }, reply) =>
      (method, params, signal) =>
        new Promise((resolve, reject) => {
          if (signal.aborted) return reject(abortReason(signal));
          const nonce = random.id();
          const id = `${nonce}.${keyring.mac(nonce, toSealContext(sessionKey))}`;
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
          const stopWaiting = mailbox.wait(
            sessionKey,
            `answer:${nonce}`,
            (message) => {
              cleanUp();
              const { result, error } = JSON.parse(message) as Partial<ClientResponse>;
              if (isObject(result)) resolve(result);
              else
                reject(
                  new ClientRpcError(
                    error?.code ?? rpcCode.internal,
                    error?.message ?? 'The client sent an invalid response',
                  ),
                );
            },
            { shouldPoll: true },
          );
          const cancelTimer = clock.timer(RESPONSE_TIMEOUT_MS, () => {
            cleanUp();
            reject(new GatewayError('MCP_TIMEOUT', { detail: 'The client did not respond in time.' }));
          });
          signal.addEventListener('abort', onAbort);
          if (reply.sendRequest(id, method, adaptToProtocolVersion(version, method, params, nonce))) return;
          cleanUp();
          reject(new ClientRpcError(rpcCode.methodNotFound, 'This client does not accept requests'));
        }),
    async handleResponse({ sessionKey }, { id, outcome }) {
      const separatorIndex = typeof id === 'string' ? id.indexOf('.') : -1;
      if (typeof id !== 'string' || separatorIndex < 0) return;
      const nonce = id.slice(0, separatorIndex);
      // What we never asked is answered by nobody: a client cannot fill the store with answers.
      if (!keyring.verifyMac(nonce, id.slice(separatorIndex + 1), toSealContext(sessionKey))) return;
      const message = JSON.stringify(outcome);
      const isWithinLimit = message.length <= MAX_RESPONSE_LENGTH;
      await mailbox.post(sessionKey, `answer:${nonce}`, isWithinLimit ? message : TOO_LARGE_RESPONSE);
    },
  };
}

/** A question as the revision of the session has it, whichever one the server that asks speaks. */
function adaptToProtocolVersion(
  version: string,
  method: string,
  params: JsonObject,
  nonce: string,
): JsonObject {
  if (method !== 'elicitation/create') return params;
  // A page has had a name of its own since there are pages, and no longer has one in the modern era.
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

function toSealContext({ tenant, principal, key }: SessionKey): SealContext {
  return { tenant, principal, server: '-', kind: 'mcp-question', field: 'id', binding: [key] };
}
