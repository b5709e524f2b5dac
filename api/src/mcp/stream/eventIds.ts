import type { Keyring, SealContext } from '@behalf/kernel';
import type { RpcId } from '../message.ts';
import type { Place } from '../session/mailbox.ts';

/** Which stream an event is of. */
export interface StreamName {
  readonly stream: string;
  /** The process that holds it. */
  readonly replica: string;
  /** What the client called its request. */
  readonly request: RpcId;
}

export interface EventIds {
  /** What all ids of this stream begin with; undefined when the client's own id is too long to be carried by each. */
  begin(place: Place, name: StreamName): string | undefined;
  /** Undefined for what is no event of a stream of this session, whatever else it may be. */
  read(place: Place, id: string): ReadEventId | undefined;
}

export interface ReadEventId extends StreamName {
  readonly beginning: string;
  readonly seq: number;
}

const LONGEST_REQUEST = 256;
const LONGEST_ID = 2_048;

/**
 * An id of an event is sealed to its session, and tells any replica whose stream it is of and what it answers: also when
 * nobody is left who could say.
 */
export function createEventIds(keyring: Keyring): EventIds {
  return {
    begin(place, { stream, replica, request }) {
      if (String(request).length > LONGEST_REQUEST) return undefined;
      return keyring.seal(JSON.stringify([stream, replica, request]), contextOf(place));
    },
    read(place, id) {
      const [, beginning = '', seq = ''] = /^(.+)\.(\d{1,9})$/.exec(id.slice(0, LONGEST_ID)) ?? [];
      if (beginning === '' || id.length > LONGEST_ID) return undefined;
      let text: string;
      try {
        text = keyring.open(beginning, contextOf(place));
      } catch {
        // Of another session, of a key we no longer have, or made up.
        return undefined;
      }
      const [stream, replica, request] = JSON.parse(text) as [string, string, RpcId];
      return { stream, replica, request, beginning, seq: Number(seq) };
    },
  };
}

function contextOf({ tenant, principal, key }: Place): SealContext {
  return { tenant, principal, server: '-', kind: 'mcp-event', field: 'id', binding: [key] };
}
