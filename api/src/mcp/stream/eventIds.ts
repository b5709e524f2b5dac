import type { Keyring, SealContext } from '@behalf/kernel';
import type { RpcId } from '../rpcMessage.ts';
import type { SessionKey } from '../session/mailbox.ts';

/** Which stream an event is of. */
export interface StreamIdentity {
  readonly streamId: string;
  /** The process that holds it. */
  readonly replica: string;
  /** What the client called its request. */
  readonly requestId: RpcId;
}

export interface EventIds {
  /** What all ids of this stream begin with; undefined when the client's own id is too long to be carried by each. */
  createPrefix(sessionKey: SessionKey, name: StreamIdentity): string | undefined;
  /** Undefined for what is no event of a stream of this session, whatever else it may be. */
  parse(sessionKey: SessionKey, id: string): ParsedEventId | undefined;
}

export interface ParsedEventId extends StreamIdentity {
  readonly prefix: string;
  readonly seq: number;
}

const MAX_REQUEST_ID_LENGTH = 256;
const MAX_ID_LENGTH = 2_048;

/**
 * An id of an event is sealed to its session, and tells any replica whose stream it is of and what it answers: also when
 * nobody is left who could say.
 */
export function createEventIds(keyring: Keyring): EventIds {
  return {
    createPrefix(sessionKey, { streamId, replica, requestId }) {
      if (String(requestId).length > MAX_REQUEST_ID_LENGTH) return undefined;
      return keyring.seal(JSON.stringify([streamId, replica, requestId]), toSealContext(sessionKey));
    },
    parse(sessionKey, id) {
      const [, prefix = '', seq = ''] = /^(.+)\.(\d{1,9})$/.exec(id.slice(0, MAX_ID_LENGTH)) ?? [];
      if (prefix === '' || id.length > MAX_ID_LENGTH) return undefined;
      let text: string;
      try {
        text = keyring.open(prefix, toSealContext(sessionKey));
      } catch {
        // Of another session, of a key we no longer have, or made up.
        return undefined;
      }
      const [streamId, replica, requestId] = JSON.parse(text) as [string, string, RpcId];
      return { streamId, replica, requestId, prefix, seq: Number(seq) };
    },
  };
}

function toSealContext({ tenant, principal, key }: SessionKey): SealContext {
  return { tenant, principal, server: '-', kind: 'mcp-event', field: 'id', binding: [key] };
}
