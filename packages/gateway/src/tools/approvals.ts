import { hash } from 'node:crypto';
import {
  type Clock,
  type Keyring,
  type Leases,
  type Random,
  type SealContext,
  SealError,
} from '@behalf/kernel';
import { type Audit, type AuditEvent, actorOf } from '../audit/audit.ts';
import { GatewayError } from '../errors/gatewayError.ts';
import type { Cache } from '../ports/index.ts';
import type { UserPrincipal } from '../principal/principal.ts';
import { withMaintenanceLease } from '../replication/withLease.ts';
import type { ServerSnapshot } from '../servers/definition.ts';
import { stableStringify } from '../servers/fields.ts';
import type { EntryPoint } from '../toolcall/inbound.ts';
import type { JsonObject } from '../upstream/upstream.ts';
import type { CatalogTool } from './catalog.ts';

export interface EnforceParts {
  readonly approvals: Pick<Approvals, 'consume' | 'request'>;
}

interface CallToApprove {
  readonly principal: UserPrincipal;
  readonly server: Pick<ServerSnapshot, 'id' | 'revision' | 'name'>;
  /** As the server describes it now, and as it is about to be called. */
  readonly tool: CatalogTool;
  readonly args: JsonObject;
  readonly door: EntryPoint;
}

/** For a call that asks first. Returns when its user approved this very call, and uses that up; asks otherwise. */
export async function enforceApproval({ approvals }: EnforceParts, call: CallToApprove): Promise<void> {
  const { principal, server, tool, args, door } = call;
  const run = {
    principal,
    server,
    tool: tool.name,
    toolHash: hashTool(tool),
    argsHash: hashArguments(args),
  };
  if (await approvals.consume(run)) return;
  const approval = await approvals.request({ ...run, argumentNames: Object.keys(args), door });
  throw new GatewayError('MCP_APPROVAL_REQUIRED', {
    detail: `This tool requires your approval. Approve the call with POST /api/mcp/approvals/${approval.id}, then send it again unchanged.`,
    approval,
  });
}

/** For how long a question waits, and for how long its answer is good. */
export const APPROVAL_LIFETIME_MS = 10 * 60_000;
const MAX_PER_USER = 100;
/** Names are shown to a person; whoever calls chose them. */
const MAX_NAMES = 50;
const MAX_NAME_LENGTH = 100;

/** One call, as exactly as an approval is good for it. */
export interface ApprovableCall {
  readonly principal: UserPrincipal;
  readonly server: Pick<ServerSnapshot, 'id' | 'revision' | 'name'>;
  readonly tool: string;
  readonly toolHash: string;
  readonly argsHash: string;
}

export interface ApprovalRequest extends ApprovableCall {
  readonly argumentNames: readonly string[];
  readonly door: EntryPoint;
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
  consume(run: ApprovableCall): Promise<boolean>;
  /** What became of a question; somebody else's is gone like one that never was. */
  stateOf(principal: UserPrincipal, id: string): Promise<ApprovalState>;
  /** Nobody waits for the answer any more: it can neither be approved nor run. Not the user's word, so not a denial. */
  withdraw(principal: UserPrincipal, id: string): Promise<void>;
  /** What waits for this user, oldest first. */
  pending(principal: UserPrincipal): Promise<readonly CallApproval[]>;
}

interface ApprovalParts extends ApprovalListParts {
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
  const approvalLists = createApprovalLists(parts);

  async function isWaiting({ id, approved }: CallApproval): Promise<boolean> {
    return !approved && (await cache.get(waitingKey(id))) !== undefined;
  }

  async function request(approvalRequest: ApprovalRequest): Promise<PendingApproval> {
    const calls = await approvalLists.read(approvalRequest.principal);
    // Its mark was lost, by an eviction or half a decision: nobody could approve it any more.
    const lostIds = new Set<string>();
    for (const call of calls) {
      if (call.approved || !isSameCall(approvalRequest, call)) continue;
      if (await isWaiting(call)) return { id: call.id, expiresAt: call.expiresAt };
      lostIds.add(call.id);
    }
    requireCapacity(calls, lostIds, clock.now());
    return createApproval(approvalRequest, lostIds);
  }

  async function createApproval(
    approvalRequest: ApprovalRequest,
    lostIds: ReadonlySet<string>,
  ): Promise<PendingApproval> {
    const created = toCallApproval(approvalRequest, random.id(), clock.now() + APPROVAL_LIFETIME_MS);
    await cache.set(waitingKey(created.id), '1', APPROVAL_LIFETIME_MS);
    let duplicate: CallApproval | undefined;
    await approvalLists.change(approvalRequest.principal, (calls) => {
      // The same call may have asked since we looked.
      duplicate = calls.find(
        (call) => !call.approved && !lostIds.has(call.id) && isSameCall(approvalRequest, call),
      );
      if (duplicate) return calls;
      requireCapacity(calls, lostIds, clock.now());
      return [...calls.filter(({ id }) => !lostIds.has(id)), created];
    });
    if (duplicate) await cache.delete(waitingKey(created.id));
    else
      audit.note(toAuditEvent('approval.request', approvalRequest.principal, created, approvalRequest.door));
    const { id, expiresAt } = duplicate ?? created;
    return { id, expiresAt };
  }

  async function approve(principal: UserPrincipal, { id }: CallApproval): Promise<void> {
    if (!(await cache.delete(waitingKey(id)))) throw new GatewayError('MCP_APPROVAL_NOT_FOUND');
    await cache.set(grantedKey(id), '1', APPROVAL_LIFETIME_MS);
    const expiresAt = clock.now() + APPROVAL_LIFETIME_MS;
    await approvalLists.change(principal, (calls) => {
      // Denied at the same moment, or lost: no run would find it.
      if (!calls.some((call) => call.id === id)) throw new GatewayError('MCP_APPROVAL_NOT_FOUND');
      return calls.map((call) => (call.id === id ? { ...call, approved: true, expiresAt } : call));
    });
  }

  async function revoke(principal: UserPrincipal, { id }: CallApproval): Promise<void> {
    await cache.delete(waitingKey(id));
    await cache.delete(grantedKey(id));
    await removeEntry(principal, id);
  }

  function removeEntry(principal: UserPrincipal, id: string): Promise<void> {
    return approvalLists.change(principal, (calls) => calls.filter((call) => call.id !== id));
  }

  return {
    request,
    async decide(principal, id, isApproved) {
      // A key is in the hands of a program: it would approve its own calls.
      if (principal.authentication.via === 'api_key') throw new GatewayError('API_KEY_SCOPE');
      const call = (await approvalLists.read(principal)).find((other) => other.id === id);
      // What was approved and has not run yet can still be denied.
      if (!call || (isApproved && !(await isWaiting(call)))) throw new GatewayError('MCP_APPROVAL_NOT_FOUND');
      // Before it has an effect: there is no approval that the audit does not know.
      await audit.record(
        toAuditEvent(isApproved ? 'approval.approve' : 'approval.deny', principal, call, 'rest'),
      );
      await (isApproved ? approve(principal, call) : revoke(principal, call));
    },
    async consume(run) {
      for (const call of await approvalLists.read(run.principal)) {
        if (!call.approved || !isSameCall(run, call)) continue;
        if (!(await cache.delete(grantedKey(call.id)))) continue;
        await removeEntry(run.principal, call.id);
        return true;
      }
      return false;
    },
    async stateOf(principal, id) {
      const call = (await approvalLists.read(principal)).find((other) => other.id === id);
      // Not by the marks: while a decision is being written down there is none of them.
      if (!call) return 'gone';
      return call.approved ? 'approved' : 'waiting';
    },
    async withdraw(principal, id) {
      const call = (await approvalLists.read(principal)).find((other) => other.id === id);
      if (!call) return;
      await revoke(principal, call);
      audit.note(toAuditEvent('approval.withdraw', principal, call, 'chat'));
    },
    pending: async (principal) => (await approvalLists.read(principal)).filter(({ approved }) => !approved),
  };
}

function waitingKey(id: string): string {
  return `waiting:${id}`;
}

function grantedKey(id: string): string {
  return `granted:${id}`;
}

function isSameCall({ server, tool, toolHash, argsHash }: ApprovableCall, call: CallApproval): boolean {
  return (
    call.serverId === server.id &&
    call.revision === server.revision &&
    call.tool === tool &&
    call.toolHash === toolHash &&
    call.argsHash === argsHash
  );
}

function toCallApproval(request: ApprovalRequest, id: string, expiresAt: number): CallApproval {
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
    argumentNames: argumentNames.slice(0, MAX_NAMES).map((name) => name.slice(0, MAX_NAME_LENGTH)),
    expiresAt,
  };
}

function requireCapacity(calls: readonly CallApproval[], lostIds: ReadonlySet<string>, now: number): void {
  if (calls.length - lostIds.size < MAX_PER_USER) return;
  const firstExpiry = Math.min(...calls.map(({ expiresAt }) => expiresAt));
  throw new GatewayError('MCP_RATE_LIMITED', {
    detail: `${MAX_PER_USER} calls wait for your approval. Approve or deny some of them first.`,
    retryAfterMs: Math.max(1_000, firstExpiry - now),
  });
}

function toAuditEvent(
  action: string,
  principal: UserPrincipal,
  { id, server, serverId, tool, argumentNames }: CallApproval,
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

/** One call that a user was asked about. Hashes and names only: no value of an argument is kept. */
interface CallApproval {
  readonly id: string;
  readonly approved: boolean;
  readonly serverId: string;
  readonly revision: string;
  readonly server: string;
  readonly tool: string;
  readonly toolHash: string;
  readonly argsHash: string;
  readonly argumentNames: readonly string[];
  readonly expiresAt: number;
}

type ApprovalOwner = Pick<UserPrincipal, 'tenant' | 'userId'>;

interface ApprovalLists {
  /** What has not expired, oldest first. */
  read(user: ApprovalOwner): Promise<readonly CallApproval[]>;
  /** One change after the other, in all processes. Giving back the same list changes nothing. */
  change(
    user: ApprovalOwner,
    edit: (calls: readonly CallApproval[]) => readonly CallApproval[],
  ): Promise<void>;
}

interface ApprovalListParts {
  readonly cache: Cache;
  readonly leases: Leases;
  readonly keyring: Keyring;
  readonly clock: Clock;
}

/**
 * What each user was asked, as one sealed value: who can read or write the store learns nothing of the calls, cannot
 * test a guess at their arguments, and cannot approve one.
 */
function createApprovalLists({ cache, leases, keyring, clock }: ApprovalListParts): ApprovalLists {
  async function read(user: ApprovalOwner): Promise<readonly CallApproval[]> {
    const sealed = await cache.get(listKey(user));
    if (sealed === undefined) return [];
    const calls = open(sealed, user);
    return calls.filter(({ expiresAt }) => expiresAt > clock.now());
  }

  /** One that does not open was tampered with: an error, never an empty list. Under a key that is gone it is over. */
  function open(sealed: string, user: ApprovalOwner): CallApproval[] {
    try {
      return JSON.parse(keyring.open(sealed, toSealContext(user))) as CallApproval[];
    } catch (error) {
      if (error instanceof SealError && error.reason === 'unknown_key') return [];
      throw error;
    }
  }

  async function write(user: ApprovalOwner, calls: readonly CallApproval[]): Promise<void> {
    if (calls.length === 0) return void (await cache.delete(listKey(user)));
    const latestExpiry = Math.max(...calls.map(({ expiresAt }) => expiresAt));
    const sealed = keyring.seal(JSON.stringify(calls), toSealContext(user));
    await cache.set(listKey(user), sealed, latestExpiry - clock.now());
  }

  return {
    read,
    change: (user, edit) =>
      withMaintenanceLease({ leases, clock }, ['approvals', user.tenant, user.userId], async () => {
        const calls = await read(user);
        const edited = edit(calls);
        if (edited !== calls) await write(user, edited);
      }),
  };
}

function listKey({ tenant, userId }: ApprovalOwner): string {
  return JSON.stringify(['list', tenant, userId]);
}

function toSealContext({ tenant, userId }: ApprovalOwner): SealContext {
  return { tenant, principal: `user:${userId}`, server: '-', kind: 'approval', field: 'list' };
}

/** What a person read before they approved: when the server changes any of it, they are asked again. */
export function hashTool({
  name,
  title,
  description,
  inputSchema,
  annotations,
}: Pick<CatalogTool, 'name' | 'title' | 'description' | 'inputSchema' | 'annotations'>): string {
  return sha256(stableStringify([name, title, description, inputSchema, annotations]));
}

/** Arguments are few and can be guessed: this is kept sealed, and nowhere else. */
export function hashArguments(args: JsonObject): string {
  return sha256(stableStringify(args));
}

function sha256(text: string): string {
  return hash('sha256', text, 'base64url');
}
