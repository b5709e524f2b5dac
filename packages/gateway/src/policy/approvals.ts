import type { Clock, Random } from '@behalf/kernel';
import { actorOf, type Audit, type AuditEvent } from '../audit/audit.ts';
import { GatewayError } from '../errors/gatewayError.ts';
import type { UserPrincipal } from '../principal/principal.ts';
import type { ServerSnapshot } from '../registry/server.ts';
import type { Door } from '../toolcall/call.ts';
import { createApprovalLists, type ApprovalListParts, type AskedCall } from './approvalLists.ts';

/** For how long a question waits, and for how long its answer is good. */
export const APPROVAL_LIFETIME_MS = 10 * 60_000;
const MOST_PER_USER = 100;
/** Names are shown to a person; whoever calls chose them. */
const MOST_NAMES = 50;
const LONGEST_NAME = 100;

/** One call, as exactly as an approval is good for it. */
export interface ApprovedRun {
  readonly principal: UserPrincipal;
  readonly server: Pick<ServerSnapshot, 'id' | 'revision' | 'name'>;
  readonly tool: string;
  readonly toolHash: string;
  readonly argsHash: string;
}

export interface ApprovalRequest extends ApprovedRun {
  readonly argumentNames: readonly string[];
  readonly door: Door;
}

export interface PendingApproval {
  readonly id: string;
  readonly expiresAt: number;
}

/** `gone`: denied, expired, withdrawn or used up. */
export type ApprovalState = 'waiting' | 'approved' | 'gone';

export interface Approvals {
  /** Asks; a call that already waits keeps its id. */
  request(request: ApprovalRequest): Promise<PendingApproval>;
  /** The user's word. Unknown, expired, decided and somebody else's are alike MCP_APPROVAL_NOT_FOUND. */
  decide(principal: UserPrincipal, id: string, approve: boolean): Promise<void>;
  /** True for exactly one run of an approved call, in all processes. */
  consume(run: ApprovedRun): Promise<boolean>;
  /** What became of a question; somebody else's is gone like one that never was. */
  stateOf(principal: UserPrincipal, id: string): Promise<ApprovalState>;
  /** Nobody waits for the answer any more: it can neither be approved nor run. Not the user's word, so not a denial. */
  withdraw(principal: UserPrincipal, id: string): Promise<void>;
  /** What waits for this user, oldest first. */
  pending(principal: UserPrincipal): Promise<readonly AskedCall[]>;
}

export interface ApprovalParts extends ApprovalListParts {
  readonly clock: Clock;
  readonly random: Random;
  readonly audit: Pick<Audit, 'note' | 'record'>;
}

/**
 * Two marks in the cache decide: `waiting` is taken away by the one decision that counts, `granted` by the one run. The
 * store says to one caller alone that it took something away, so no two replicas can both go on. The lists only say
 * which mark belongs to which call; a list that loses an entry costs another question and nothing else.
 */
export function createApprovals(parts: ApprovalParts): Approvals {
  const { cache, clock, random, audit } = parts;
  const lists = createApprovalLists(parts);

  async function isWaiting({ id, approved }: AskedCall): Promise<boolean> {
    return !approved && (await cache.get(waiting(id))) !== undefined;
  }

  async function request(asked: ApprovalRequest): Promise<PendingApproval> {
    const calls = await lists.read(asked.principal);
    // Its mark was lost, by an eviction or half a decision: nobody could approve it any more.
    const lost = new Set<string>();
    for (const call of calls) {
      if (call.approved || !isOf(asked, call)) continue;
      if (await isWaiting(call)) return { id: call.id, expiresAt: call.expiresAt };
      lost.add(call.id);
    }
    checkRoom(calls, lost, clock.now());
    return ask(asked, lost);
  }

  async function ask(asked: ApprovalRequest, lost: ReadonlySet<string>): Promise<PendingApproval> {
    const fresh = askedCall(asked, random.id(), clock.now() + APPROVAL_LIFETIME_MS);
    await cache.set(waiting(fresh.id), '1', APPROVAL_LIFETIME_MS);
    let twin: AskedCall | undefined;
    await lists.change(asked.principal, (calls) => {
      // The same call may have asked since we looked.
      twin = calls.find((call) => !call.approved && !lost.has(call.id) && isOf(asked, call));
      if (twin) return calls;
      checkRoom(calls, lost, clock.now());
      return [...calls.filter(({ id }) => !lost.has(id)), fresh];
    });
    if (twin) await cache.delete(waiting(fresh.id));
    else audit.note(eventOf('approval.request', asked.principal, fresh, asked.door));
    const { id, expiresAt } = twin ?? fresh;
    return { id, expiresAt };
  }

  async function approve(principal: UserPrincipal, { id }: AskedCall): Promise<void> {
    if (!(await cache.delete(waiting(id)))) throw new GatewayError('MCP_APPROVAL_NOT_FOUND');
    await cache.set(granted(id), '1', APPROVAL_LIFETIME_MS);
    const expiresAt = clock.now() + APPROVAL_LIFETIME_MS;
    await lists.change(principal, (calls) => {
      // Denied at the same moment, or lost: no run would find it.
      if (!calls.some((call) => call.id === id)) throw new GatewayError('MCP_APPROVAL_NOT_FOUND');
      return calls.map((call) => (call.id === id ? { ...call, approved: true, expiresAt } : call));
    });
  }

  async function takeBack(principal: UserPrincipal, { id }: AskedCall): Promise<void> {
    await cache.delete(waiting(id));
    await cache.delete(granted(id));
    await forget(principal, id);
  }

  function forget(principal: UserPrincipal, id: string): Promise<void> {
    return lists.change(principal, (calls) => calls.filter((call) => call.id !== id));
  }

  return {
    request,
    async decide(principal, id, isApproved) {
      // A key is in the hands of a program: it would approve its own calls.
      if (principal.authentication.via === 'api_key') throw new GatewayError('API_KEY_SCOPE');
      const call = (await lists.read(principal)).find((other) => other.id === id);
      // What was approved and has not run yet can still be denied.
      if (!call || (isApproved && !(await isWaiting(call)))) throw new GatewayError('MCP_APPROVAL_NOT_FOUND');
      // Before it has an effect: there is no approval that the audit does not know.
      await audit.record(eventOf(isApproved ? 'approval.approve' : 'approval.deny', principal, call, 'rest'));
      await (isApproved ? approve(principal, call) : takeBack(principal, call));
    },
    async consume(run) {
      for (const call of await lists.read(run.principal)) {
        if (!call.approved || !isOf(run, call)) continue;
        if (!(await cache.delete(granted(call.id)))) continue;
        await forget(run.principal, call.id);
        return true;
      }
      return false;
    },
    async stateOf(principal, id) {
      const call = (await lists.read(principal)).find((other) => other.id === id);
      // Not by the marks: while a decision is being written down there is none of them.
      if (!call) return 'gone';
      return call.approved ? 'approved' : 'waiting';
    },
    async withdraw(principal, id) {
      const call = (await lists.read(principal)).find((other) => other.id === id);
      if (!call) return;
      await takeBack(principal, call);
      audit.note(eventOf('approval.withdraw', principal, call, 'chat'));
    },
    pending: async (principal) => (await lists.read(principal)).filter(({ approved }) => !approved),
  };
}

function waiting(id: string): string {
  return `waiting:${id}`;
}

function granted(id: string): string {
  return `granted:${id}`;
}

function isOf({ server, tool, toolHash, argsHash }: ApprovedRun, call: AskedCall): boolean {
  return (
    call.serverId === server.id &&
    call.revision === server.revision &&
    call.tool === tool &&
    call.toolHash === toolHash &&
    call.argsHash === argsHash
  );
}

function askedCall(request: ApprovalRequest, id: string, expiresAt: number): AskedCall {
  const { server, tool, toolHash, argsHash, argumentNames } = request;
  return {
    id,
    approved: false,
    serverId: server.id,
    revision: server.revision,
    server: server.name,
    tool,
    toolHash,
    argsHash,
    argumentNames: argumentNames.slice(0, MOST_NAMES).map((name) => name.slice(0, LONGEST_NAME)),
    expiresAt,
  };
}

function checkRoom(calls: readonly AskedCall[], lost: ReadonlySet<string>, now: number): void {
  if (calls.length - lost.size < MOST_PER_USER) return;
  const first = Math.min(...calls.map(({ expiresAt }) => expiresAt));
  throw new GatewayError('MCP_RATE_LIMITED', {
    detail: `${MOST_PER_USER} calls wait for your approval. Approve or deny some of them first.`,
    retryAfterMs: Math.max(1_000, first - now),
  });
}

function eventOf(
  action: string,
  principal: UserPrincipal,
  { id, server, serverId, tool, argumentNames }: AskedCall,
  door: AuditEvent['door'],
): AuditEvent {
  return {
    kind: 'call',
    action,
    tenant: principal.tenant,
    actor: actorOf(principal),
    door,
    outcome: 'ok',
    server,
    serverId,
    tool,
    arguments: argumentNames,
    subject: id,
  };
}
