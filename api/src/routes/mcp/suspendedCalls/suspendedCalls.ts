import { GatewayError, type Inbound, type JsonObject, principalKey } from '@behalf/gateway';
import type { Cache } from '@behalf/gateway/ports';
import type { Cancel, Clock, Random } from '@behalf/kernel';
import { type McpRequest, createMcpInbound } from '../request.ts';
import { type RequestState, type SuspendedCallRef, invalidRequestState } from '../requestState.ts';
import type { ResultJson } from '../results.ts';
import { isObject } from '../rpc.ts';
import type { Mailbox } from '../session/mailbox.ts';
import { sessionKeyOf } from '../session/sessions.ts';
import { type RemoteResumeParts, resumeRemotely, serveRemoteResume } from './remoteResume.ts';
import { type AttachedRequest, type SuspendedCall, createSuspendedCall } from './suspendedCall.ts';

export interface SuspendedCallLimits {
  readonly maxPerUser: number;
  readonly maxTotal: number;
  /** Of what they were all asked with: it stays in memory as long as they wait. */
  readonly maxBytes: number;
  readonly ttlMs: number;
}

const suspendedCallLimits: SuspendedCallLimits = {
  ...{ maxPerUser: 16, maxTotal: 256 },
  ...{ maxBytes: 64 * 1024 * 1024, ttlMs: 10 * 60_000 },
};

interface SuspendedCallsParts extends RemoteResumeParts {
  readonly cache: Cache;
  readonly mailbox: Pick<Mailbox, 'post' | 'wait'>;
  readonly clock: Clock;
  readonly random: Random;
  readonly results: Pick<ResultJson, 'inputRequired'>;
  /** Names this process: a call that waits in it waits nowhere else. */
  readonly replica: string;
  readonly limits?: SuspendedCallLimits;
}

/** Calls that wait for their user between two requests of a client without a session. */
export interface SuspendedCalls {
  /** Runs the work; gives its text, or the questions that are asked first. */
  begin(
    mcpRequest: McpRequest,
    inbound: Inbound,
    seal: (state: RequestState) => string,
    work: (inbound: Inbound) => Promise<string>,
  ): Promise<string>;
  /** The client came back with the answers, to whichever replica. A state is good for that once. */
  resume(mcpRequest: McpRequest, suspendedCall: SuspendedCallRef): Promise<string>;
  close(): void;
}

export function createSuspendedCalls(parts: SuspendedCallsParts): SuspendedCalls {
  const { cache, mailbox, clock, random, results, replica, limits = suspendedCallLimits } = parts;
  const calls = new Map<string, { call: SuspendedCall; round: () => number; cancelWait: () => void }>();
  const users = new Map<string, number>();
  let usedBytes = 0;

  function reserveSlot(userKey: string, size: number): void {
    const userCalls = users.get(userKey) ?? 0;
    if (userCalls >= limits.maxPerUser || calls.size >= limits.maxTotal || usedBytes + size > limits.maxBytes)
      throw new GatewayError('MCP_RATE_LIMITED', { detail: 'Too many calls are waiting for user input.' });
    users.set(userKey, userCalls + 1);
    usedBytes += size;
  }

  function releaseSlot(userKey: string, size: number): void {
    const userCalls = users.get(userKey) ?? 0;
    usedBytes -= size;
    if (userCalls <= 1) users.delete(userKey);
    else users.set(userKey, userCalls - 1);
  }

  return {
    begin(mcpRequest, inbound, seal, work) {
      const { caller } = mcpRequest;
      const id = random.id();
      const sessionKey = sessionKeyOf(caller, id);
      const userKey = JSON.stringify([caller.tenant, principalKey(caller)]);
      let round = 0;
      let size = 0;
      let cancelWait: Cancel = () => undefined;
      const call: SuspendedCall = createSuspendedCall({
        clock,
        reserveSlot() {
          size = JSON.stringify(mcpRequest.params).length;
          reserveSlot(userKey, size);
          calls.set(id, { call, round: () => round, cancelWait: () => cancelWait() });
        },
        async suspend(inputRequests) {
          round += 1;
          const ticketKey = resumeTicketKey(id, round);
          // Whoever takes it away may answer, and nobody can a second time.
          await cache.set(ticketKey, replica, limits.ttlMs);
          if (!calls.has(id)) throw expiredError();
          const cancelExpiry = clock.timer(limits.ttlMs, () => call.cancel(expiredError()));
          const stopWaiting = mailbox.wait(
            sessionKey,
            `retry:${round}`,
            (message) => {
              cancelWait();
              void serveRemoteResume(parts, sessionKey, { call, mcpRequest }, message);
            },
            { shouldPoll: true },
          );
          cancelWait = () => {
            cancelExpiry();
            stopWaiting();
          };
          return results.inputRequired({
            inputRequests,
            requestState: seal({
              suspendedCall: { call: id, replica, round, expiresAt: clock.now() + limits.ttlMs },
            }),
          });
        },
        onClosed() {
          cancelWait();
          if (!calls.delete(id)) return;
          releaseSlot(userKey, size);
          void cache.delete(resumeTicketKey(id, round)).catch(() => undefined);
        },
      });
      const { signal, onProgress, onLog } = call;
      const { peer } = inbound;
      const suspendedInbound: Inbound = {
        ...{ ...inbound, signal, onProgress },
        ...(inbound.onLog && { onLog }),
        ...(peer && { peer: { ...peer, sendRequest: (...args) => call.sendRequest(...args) } }),
      };
      const attached = call.attach(toAttachedRequest(mcpRequest, inbound));
      call.settle(work(suspendedInbound));
      return attached;
    },
    async resume(mcpRequest, { call: id, replica: owner, round, expiresAt }) {
      // A store may still have what is too old, and be the first to be asked for it.
      if (clock.now() >= expiresAt || !(await cache.delete(resumeTicketKey(id, round))))
        throw invalidRequestState();
      const responses = readInputResponses(mcpRequest);
      if (owner !== replica)
        return resumeRemotely(parts, sessionKeyOf(mcpRequest.caller, id), mcpRequest, round, responses);
      const entry = calls.get(id);
      if (entry?.round() !== round) throw invalidRequestState();
      entry.cancelWait();
      entry.call.provideResponses(responses);
      return entry.call.attach(toAttachedRequest(mcpRequest, createMcpInbound(mcpRequest, id)));
    },
    close() {
      for (const { call } of [...calls.values()])
        call.cancel(new DOMException('Shutting down', 'AbortError'));
    },
  };
}

function toAttachedRequest(
  { signal, capabilities }: McpRequest,
  { onProgress, onLog }: Pick<Inbound, 'onProgress' | 'onLog'>,
): AttachedRequest {
  return { signal, capabilities, onProgress, onLog };
}

function readInputResponses({ params }: McpRequest): JsonObject {
  const { inputResponses } = params;
  return isObject(inputResponses) ? inputResponses : {};
}

function resumeTicketKey(call: string, round: number): string {
  return `parked:${call}:${round}`;
}

function expiredError(): Error {
  return new DOMException('The client did not respond in time', 'AbortError');
}
