import { GatewayError, ClientRpcError, type JsonObject } from '@behalf/gateway';
import {
  abortReason,
  type Cancellation,
  type Clock,
  type Keyring,
  type Random,
  type SealContext,
} from '@behalf/kernel';
import { isObject, type RpcResponse } from '../message.ts';
import { rpcCode } from '../rpcFault.ts';
import type { Reply } from '../stream/reply.ts';
import { URL_ELICITATION_VERSION } from '../versions.ts';
import type { Mailbox, Place } from './mailbox.ts';
import type { McpSession } from './sessions.ts';

export type Ask = (method: string, params: JsonObject, signal: Cancellation) => Promise<JsonObject>;

/** Requests to legacy clients in the middle of a call. The answer comes with another request, at whichever replica. */
export interface Asking {
  /** How this call's client can be asked. */
  askOf(session: McpSession, reply: Reply): Ask;
  /** What a client sent as an answer. Nothing happens unless it was asked, in this session. */
  answered(session: McpSession, response: RpcResponse): Promise<void>;
}

export interface AskingParts {
  readonly mailbox: Pick<Mailbox, 'post' | 'wait'>;
  readonly keyring: Keyring;
  readonly clock: Clock;
  readonly random: Random;
}

/** For how long somebody may think about it. */
const ANSWER_MS = 10 * 60_000;
/** An answer is text that a person typed, or that a model wrote. */
const LONGEST_ANSWER = 256 * 1024;

export function createAsking({ mailbox, keyring, clock, random }: AskingParts): Asking {
  return {
    askOf:
      ({ place, version }, reply) =>
      (method, params, signal) =>
        new Promise((resolve, reject) => {
          if (signal.aborted) return reject(abortReason(signal));
          const nonce = random.id();
          const id = `${nonce}.${keyring.mac(nonce, contextOf(place))}`;
          const end = () => {
            stop();
            cancel();
            signal.removeEventListener('abort', leave);
          };
          const leave = () => {
            end();
            reply.notify('notifications/cancelled', {
              requestId: id,
              reason: 'Nobody waits for it any more',
            });
            reject(abortReason(signal));
          };
          const stop = mailbox.wait(
            place,
            `answer:${nonce}`,
            (word) => {
              end();
              const { result, error } = JSON.parse(word) as Partial<Told>;
              if (isObject(result)) resolve(result);
              else reject(new ClientRpcError(error?.code ?? rpcCode.internal, error?.message ?? 'No answer'));
            },
            { poll: true },
          );
          const cancel = clock.timer(ANSWER_MS, () => {
            end();
            reject(new GatewayError('MCP_TIMEOUT', { detail: 'The client did not answer in time.' }));
          });
          signal.addEventListener('abort', leave);
          if (reply.ask(id, method, asRevisionHasIt(version, method, params, nonce))) return;
          end();
          reject(new ClientRpcError(rpcCode.methodNotFound, 'This client takes no requests'));
        }),
    async answered({ place }, { id, answer }) {
      const cut = typeof id === 'string' ? id.indexOf('.') : -1;
      if (typeof id !== 'string' || cut < 0) return;
      const nonce = id.slice(0, cut);
      // What we never asked is answered by nobody: a client cannot fill the store with answers.
      if (!keyring.verifyMac(nonce, id.slice(cut + 1), contextOf(place))) return;
      const word = JSON.stringify(answer);
      const fits = word.length <= LONGEST_ANSWER;
      await mailbox.post(place, `answer:${nonce}`, fits ? word : TOO_LONG);
    },
  };
}

/** A question as the revision of the session has it, whichever one the server that asks speaks. */
function asRevisionHasIt(version: string, method: string, params: JsonObject, nonce: string): JsonObject {
  if (method !== 'elicitation/create') return params;
  // A page has had a name of its own since there are pages, and no longer has one in the modern era.
  if (params['mode'] === 'url') return { elicitationId: nonce, ...params };
  const { mode: _form, ...rest } = params;
  return version >= URL_ELICITATION_VERSION ? params : rest;
}

const TOO_LONG = JSON.stringify({
  error: { code: rpcCode.internal, message: 'The answer of the client is too long' },
});

interface Told {
  readonly result: JsonObject;
  readonly error: { readonly code: number; readonly message: string };
}

function contextOf({ tenant, principal, key }: Place): SealContext {
  return { tenant, principal, server: '-', kind: 'mcp-question', field: 'id', binding: [key] };
}
