import { GatewayError, principalKey, type Inbound, type JsonObject } from '@behalf/gateway';
import type { Cache } from '@behalf/gateway/ports';
import type { Cancel, Clock, Random } from '@behalf/kernel';
import type { Asked } from '../asked.ts';
import { mcpInbound } from '../mcpInbound.ts';
import { isObject } from '../message.ts';
import { badState, type Parked, type State } from '../requestState.ts';
import type { ResultJson } from '../resultJson.ts';
import type { Mailbox } from '../session/mailbox.ts';
import { placeOf } from '../session/sessions.ts';
import { createParkedCall, type Attendant, type ParkedCall } from './parkedCall.ts';
import { attendElsewhere, serveElsewhere, type ElsewhereParts } from './elsewhere.ts';

export interface ParkingLimits {
  readonly perUser: number;
  readonly inAll: number;
  /** Of what they were all asked with: it stays in memory as long as they wait. */
  readonly bytes: number;
  readonly ms: number;
}

export const parkingLimits: ParkingLimits = {
  ...{ perUser: 16, inAll: 256 },
  ...{ bytes: 64 * 1024 * 1024, ms: 10 * 60_000 },
};

export interface ParkingParts extends ElsewhereParts {
  readonly cache: Cache;
  readonly mailbox: Pick<Mailbox, 'post' | 'wait'>;
  readonly clock: Clock;
  readonly random: Random;
  readonly results: Pick<ResultJson, 'inputRequired'>;
  /** Names this process: a call that waits in it waits nowhere else. */
  readonly replica: string;
  readonly limits?: ParkingLimits;
}

/** Calls that wait for their user between two requests of a client without a session. */
export interface Parking {
  /** Runs the work; gives its text, or the questions that are asked first. */
  begin(
    asked: Asked,
    inbound: Inbound,
    seal: (state: State) => string,
    work: (inbound: Inbound) => Promise<string>,
  ): Promise<string>;
  /** The client came back with the answers, to whichever replica. A state is good for that once. */
  resume(asked: Asked, parked: Parked): Promise<string>;
  close(): void;
}

export function createParking(parts: ParkingParts): Parking {
  const { cache, mailbox, clock, random, results, replica, limits = parkingLimits } = parts;
  const calls = new Map<string, { call: ParkedCall; round: () => number; unpark: () => void }>();
  const users = new Map<string, number>();
  let bytes = 0;

  function enter(user: string, size: number): void {
    const own = users.get(user) ?? 0;
    if (own >= limits.perUser || calls.size >= limits.inAll || bytes + size > limits.bytes)
      throw new GatewayError('MCP_RATE_LIMITED', { detail: 'Too many calls wait for an answer.' });
    users.set(user, own + 1);
    bytes += size;
  }

  function leave(user: string, size: number): void {
    const own = users.get(user) ?? 0;
    bytes -= size;
    if (own <= 1) users.delete(user);
    else users.set(user, own - 1);
  }

  return {
    begin(asked, inbound, seal, work) {
      const { caller } = asked;
      const id = random.id();
      const place = placeOf(caller, id);
      const user = JSON.stringify([caller.tenant, principalKey(caller)]);
      let round = 0;
      let size = 0;
      let unpark: Cancel = () => undefined;
      const call: ParkedCall = createParkedCall({
        clock,
        enter() {
          size = JSON.stringify(asked.params).length;
          enter(user, size);
          calls.set(id, { call, round: () => round, unpark: () => unpark() });
        },
        async park(inputRequests) {
          round += 1;
          const ticket = ticketOf(id, round);
          // Whoever takes it away may answer, and nobody can a second time.
          await cache.set(ticket, replica, limits.ms);
          if (!calls.has(id)) throw expired();
          const expire = clock.timer(limits.ms, () => call.end(expired()));
          const unhear = mailbox.wait(
            place,
            `retry:${round}`,
            (word) => {
              unpark();
              void serveElsewhere(parts, place, { call, asked }, word);
            },
            { poll: true },
          );
          unpark = () => {
            expire();
            unhear();
          };
          return results.inputRequired({
            inputRequests,
            requestState: seal({ parked: { call: id, replica, round, until: clock.now() + limits.ms } }),
          });
        },
        onOver() {
          unpark();
          if (!calls.delete(id)) return;
          leave(user, size);
          void cache.delete(ticketOf(id, round)).catch(() => undefined);
        },
      });
      const { signal, onProgress, onLog } = call;
      const { peer } = inbound;
      const own: Inbound = {
        ...{ ...inbound, signal, onProgress },
        ...(inbound.onLog && { onLog }),
        ...(peer && { peer: { ...peer, sendRequest: (...question) => call.ask(...question) } }),
      };
      const attending = call.attend(attendantOf(asked, inbound));
      call.settle(work(own));
      return attending;
    },
    async resume(asked, { call: id, replica: owner, round, until }) {
      // A store may still have what is too old, and be the first to be asked for it.
      if (clock.now() >= until || !(await cache.delete(ticketOf(id, round)))) throw badState();
      const responses = responsesOf(asked);
      if (owner !== replica)
        return attendElsewhere(parts, placeOf(asked.caller, id), asked, round, responses);
      const kept = calls.get(id);
      if (kept?.round() !== round) throw badState();
      kept.unpark();
      kept.call.answer(responses);
      return kept.call.attend(attendantOf(asked, mcpInbound(asked, id)));
    },
    close() {
      for (const { call } of [...calls.values()]) call.end(new DOMException('Shutting down', 'AbortError'));
    },
  };
}

function attendantOf(
  { signal, capabilities }: Asked,
  { onProgress, onLog }: Pick<Inbound, 'onProgress' | 'onLog'>,
): Attendant {
  return { signal, capabilities, onProgress, onLog };
}

function responsesOf({ params }: Asked): JsonObject {
  const { inputResponses } = params;
  return isObject(inputResponses) ? inputResponses : {};
}

function ticketOf(call: string, round: number): string {
  return `parked:${call}:${round}`;
}

function expired(): Error {
  return new DOMException('Nobody came back with an answer', 'AbortError');
}
