import { GatewayError, type Inbound, principalKey } from '@behalf/gateway';
import { type Cancel, isObject } from '@behalf/kernel';
import { type QuotaLimits, createUserQuota } from '../../../http/userQuota.ts';
import { type McpRequest, createMcpInbound } from '../request.ts';
import { type RequestState, type SuspendedCallRef, invalidRequestState } from '../requestState.ts';
import type { ResultJson } from '../results.ts';
import { sessionKeyOf } from '../session/sessions.ts';
import {
  type RemoteResumeParts,
  resumeMessageName,
  resumeRemotely,
  serveRemoteResume,
} from './remoteResume.ts';
import { type AttachedRequest, type SuspendedCall, createSuspendedCall } from './suspendedCall.ts';

export interface SuspendedCallLimits extends QuotaLimits {
  /** The size of all requests with a suspended call. They stay in memory while the calls wait. */
  readonly maxBytes: number;
  readonly ttlMs: number;
}

const suspendedCallLimits: SuspendedCallLimits = {
  ...{ maxPerUser: 16, maxTotal: 256 },
  ...{ maxBytes: 64 * 1024 * 1024, ttlMs: 10 * 60_000 },
};

interface SuspendedCallsParts extends RemoteResumeParts {
  readonly results: Pick<ResultJson, 'inputRequired'>;
  /** Identifies this replica. A suspended call exists only at the replica that started it. */
  readonly replica: string;
  readonly limits?: SuspendedCallLimits;
}

/**
 * Calls of modern clients to legacy servers that wait for input of the user (ADR 28). A modern client receives `input_required`
 * and repeats the request with the responses (MCP 2026-07-28), while the call to the legacy server stays open. Invariants:
 * - A ticket in the store allows one resumption per round. The replica that deletes it resumes the call.
 * - The sealed request state binds a suspended call to its user, method and arguments.
 * - Suspended calls are limited per user, per replica, in size and in time.
 */
export interface SuspendedCalls {
  /** Runs the work. Returns its result, or the input requests that it needs first. */
  begin(
    mcpRequest: McpRequest,
    inbound: Inbound,
    seal: (state: RequestState) => string,
    work: (inbound: Inbound) => Promise<string>,
  ): Promise<string>;
  /** Continues a call with the responses of the client, also at another replica. Each round can be resumed once. */
  resume(mcpRequest: McpRequest, suspendedCall: SuspendedCallRef): Promise<string>;
  close(): void;
}

export function createSuspendedCalls(parts: SuspendedCallsParts): SuspendedCalls {
  const { cache, mailbox, clock, random, results, replica, limits = suspendedCallLimits } = parts;
  const calls = new Map<string, { call: SuspendedCall; round: () => number; cancelWait: () => void }>();
  const quota = createUserQuota(limits);
  let usedBytes = 0;

  return {
    begin(mcpRequest, inbound, seal, work) {
      const { caller } = mcpRequest;
      const id = random.id();
      const sessionKey = sessionKeyOf(caller, id);
      const user = principalKey(caller);
      let round = 0;
      let size = 0;
      let cancelWait: Cancel = () => undefined;
      const call: SuspendedCall = createSuspendedCall({
        clock,
        reserveSlot() {
          size = JSON.stringify(mcpRequest.params).length;
          if (quota.exceeded(user) || usedBytes + size > limits.maxBytes)
            throw new GatewayError('MCP_RATE_LIMITED', {
              detail: 'Too many calls are waiting for user input.',
            });
          quota.add(user);
          usedBytes += size;
          calls.set(id, { call, round: () => round, cancelWait: () => cancelWait() });
        },
        async suspend(inputRequests) {
          round += 1;
          await cache.set(resumeTicketKey(id, round), replica, limits.ttlMs);
          if (!calls.has(id)) throw expiredError();
          const cancelExpiry = clock.timer(limits.ttlMs, () => call.cancel(expiredError()));
          const onResume = (message: string) => {
            cancelWait();
            void serveRemoteResume(parts, sessionKey, { call, mcpRequest }, message);
          };
          const stopWaiting = mailbox.wait(sessionKey, resumeMessageName(round), onResume, {
            shouldPoll: true,
          });
          cancelWait = () => {
            cancelExpiry();
            stopWaiting();
          };
          const expiresAt = clock.now() + limits.ttlMs;
          return results.inputRequired({
            inputRequests,
            requestState: seal({ suspendedCall: { call: id, replica, round, expiresAt } }),
          });
        },
        onClosed() {
          cancelWait();
          if (!calls.delete(id)) return;
          quota.add(user, -1);
          usedBytes -= size;
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
      // The store may still have the ticket of an expired call.
      if (clock.now() >= expiresAt || !(await cache.delete(resumeTicketKey(id, round))))
        throw invalidRequestState();
      const { inputResponses } = mcpRequest.params;
      const responses = isObject(inputResponses) ? inputResponses : {};
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

function resumeTicketKey(call: string, round: number): string {
  return `resume-ticket:${call}:${round}`;
}

function expiredError(): Error {
  return new DOMException('The client did not respond in time', 'AbortError');
}
