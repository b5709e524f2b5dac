/**
 * Approvals of single tool calls by their user.
 *
 * Invariants:
 * - An approval is valid for one run of one call: same user, server revision, tool definition and arguments.
 * - Two markers in the shared cache decide. Only one decision deletes the `waiting` marker, and only one run deletes the
 *   `granted` marker, so two replicas cannot both proceed. The list of a user only maps calls to markers: a lost list entry
 *   causes another request, nothing else.
 * - The audit log has the decision before it takes effect.
 * - The list is sealed. Access to the store reveals no calls, allows no guesses of arguments, and cannot approve a call.
 */
import { hash } from 'node:crypto';
import {
  type Clock,
  type Keyring,
  type Leases,
  type Random,
  type SealContext,
  SealError,
  stableStringify,
} from '@behalf/kernel';
import { type Audit, type AuditEvent, actorOf } from '../audit/audit.ts';
import { GatewayError } from '../errors/gatewayError.ts';
import type { Cache } from '../ports/index.ts';
import type { UserPrincipal } from '../principal/principal.ts';
import { withMaintenanceLease } from '../replication/withLease.ts';
import type { ServerSnapshot } from '../definitions/definition.ts';
import type { EntryPoint } from '../toolcall/inbound.ts';
import type { JsonObject } from '../upstream/upstream.ts';
import type { CatalogTool } from './catalog.ts';

export interface EnforceParts {
  readonly approvals: Pick<Approvals, 'consume' | 'request'>;
}

interface CallToApprove {
  readonly principal: UserPrincipal;
  readonly server: Pick<ServerSnapshot, 'id' | 'revision' | 'name'>;
  /** The current definition, which the call will use. */
  readonly tool: CatalogTool;
  readonly args: JsonObject;
  readonly door: EntryPoint;
}

/** Consumes the approval of this call. If there is none, requests one and throws `MCP_APPROVAL_REQUIRED`. */
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

/** Lifetime of a request, and of a granted approval. */
export const APPROVAL_LIFETIME_MS = 10 * 60_000;
const MAX_PER_USER = 100;
/** Limits of the argument names that the user sees. The caller chooses them. */
const MAX_NAMES = 50;
const MAX_NAME_LENGTH = 100;

/** A call, identified as exactly as the approval requires. */
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

/** `gone`: denied, expired, withdrawn or consumed. */
export type ApprovalState = 'waiting' | 'approved' | 'gone';

export interface Approvals {
  /** Requests an approval. A call that already waits keeps its id. */
  request(request: ApprovalRequest): Promise<PendingApproval>;
  /** The user's decision. Throws MCP_APPROVAL_NOT_FOUND for unknown, expired and decided ids, and ids of other users. */
  decide(principal: UserPrincipal, id: string, approve: boolean): Promise<void>;
  /** True for exactly one run of an approved call, across all replicas. */
  consume(run: ApprovableCall): Promise<boolean>;
  /** `gone` also for ids of other users and unknown ids. */
  stateOf(principal: UserPrincipal, id: string): Promise<ApprovalState>;
  /** Cancels a request that no caller waits for. Not a denial by the user. */
  withdraw(principal: UserPrincipal, id: string): Promise<void>;
  /** The waiting requests of this user, oldest first. */
  pending(principal: UserPrincipal): Promise<readonly CallApproval[]>;
}

interface ApprovalParts extends ApprovalListParts {
  readonly clock: Clock;
  readonly random: Random;
  readonly audit: Pick<Audit, 'note' | 'record'>;
}

export function createApprovals(parts: ApprovalParts): Approvals {
  const { cache, clock, random, audit } = parts;
  const approvalLists = createApprovalLists(parts);

  async function isWaiting({ id, approved }: CallApproval): Promise<boolean> {
    return !approved && (await cache.get(waitingKey(id))) !== undefined;
  }

  async function request(approvalRequest: ApprovalRequest): Promise<PendingApproval> {
    const calls = await approvalLists.read(approvalRequest.principal);
    // Calls whose marker was lost by an eviction or an interrupted decision. They cannot be approved any more.
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
      // The same call may have requested an approval since the list was read.
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
      // Denied at the same time, or lost: no run would find the approval.
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
      // A program with an API key would approve its own calls.
      if (principal.authentication.via === 'api_key') throw new GatewayError('API_KEY_SCOPE');
      const call = (await approvalLists.read(principal)).find((other) => other.id === id);
      // An approval that no run has consumed can still be denied.
      if (!call || (isApproved && !(await isWaiting(call)))) throw new GatewayError('MCP_APPROVAL_NOT_FOUND');
      // Recorded before it takes effect, so the audit log has every approval.
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
      // The markers do not tell: during a decision there is none.
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

/** A call in the list of its user. Contains hashes and names, no argument values. */
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
  /** The calls that have not expired, oldest first. */
  read(user: ApprovalOwner): Promise<readonly CallApproval[]>;
  /** Changes are serialized across replicas. Returning the same list changes nothing. */
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

/** The calls of each user as one sealed value. */
function createApprovalLists({ cache, leases, keyring, clock }: ApprovalListParts): ApprovalLists {
  async function read(user: ApprovalOwner): Promise<readonly CallApproval[]> {
    const sealed = await cache.get(listKey(user));
    if (sealed === undefined) return [];
    const calls = open(sealed, user);
    return calls.filter(({ expiresAt }) => expiresAt > clock.now());
  }

  /** A list that does not open was tampered with: an error, never an empty list. If its key was removed, the list is empty. */
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

/** Hash of the definition that the user saw. If the server changes it, the user must approve again. */
export function hashTool({
  name,
  title,
  description,
  inputSchema,
  annotations,
}: Pick<CatalogTool, 'name' | 'title' | 'description' | 'inputSchema' | 'annotations'>): string {
  return sha256(stableStringify([name, title, description, inputSchema, annotations]));
}

/** Arguments can be guessed from their hash, so the hash is stored only in the sealed list. */
export function hashArguments(args: JsonObject): string {
  return sha256(stableStringify(args));
}

function sha256(text: string): string {
  return hash('sha256', text, 'base64url');
}
