import { type Authority, type AuthorityKind, httpStatus, scopeList } from '@behalf/contracts';
import type { Clock } from '@behalf/kernel';
import { type Audit, type AuditEvent, actorOf } from '../audit/audit.ts';
import { GatewayError } from '../errors/gatewayError.ts';
import { type ServerSnapshot, usesGraph, usesObo } from '../definitions/definition.ts';
import type { JsonObject } from '../upstream/upstream.ts';
import type { Inbound } from './inbound.ts';
import type { CallOutcome } from './outcome.ts';

export interface AuditParts {
  readonly audit: Audit;
  readonly clock: Clock;
}

/** The request as the audit log records it: names, never values. */
export interface AuditedRequest {
  readonly action: 'tool.call' | 'resource.read' | 'prompt.get' | `task.${'get' | 'update' | 'cancel'}`;
  readonly server?: string | undefined;
  readonly tool?: string | undefined;
  readonly args?: JsonObject | undefined;
  /** The id of the block that is run. */
  readonly subject?: string | undefined;
}

/** Facts that the work adds to the audit event. */
export interface AuditContext {
  server?: ServerSnapshot;
  /** Set when the credential is prepared. Before that, the event names no authority. */
  isPrepared?: boolean;
  /** Whether a slot in the audit buffer is reserved for the event. */
  isReserved?: boolean;
}

/** Runs the work and records one audit event with its outcome. */
export async function recordAudit<T extends CallOutcome>(
  { audit, clock }: AuditParts,
  inbound: Inbound,
  request: AuditedRequest,
  work: (auditContext: AuditContext) => Promise<T>,
): Promise<T> {
  const startedAt = clock.now();
  const auditContext: AuditContext = {};
  let auditResult: AuditResult = ok;
  try {
    const outcome = await work(auditContext);
    if (outcome.kind === 'auth_required') auditResult = { outcome: 'refused', code: outcome.signIn.code };
    else if (outcome.kind === 'input_required') auditResult = inputRequired;
    else if (outcome.result['isError'] === true) auditResult = toolError;
    return outcome;
  } catch (error) {
    auditResult = resultOfError(error, inbound);
    throw error;
  } finally {
    const { principal, door, id } = inbound;
    const { server } = auditContext;
    const authority = auditContext.isPrepared && server ? authorityOf(server) : undefined;
    audit.note(
      {
        kind: 'call',
        action: request.action,
        tenant: principal.tenant,
        actor: actorOf(principal),
        door,
        outcome: auditResult.outcome,
        code: auditResult.code,
        server: request.server,
        serverId: server?.id,
        tool: request.tool,
        subject: request.subject,
        arguments: request.args && Object.keys(request.args),
        authority: authority?.kind,
        scopes: authority?.scopes,
        durationMs: clock.now() - startedAt,
        request: id,
      },
      auditContext.isReserved,
    );
  }
}

/** OBO calls fail closed if the audit buffer is full: they must not happen without an audit event. */
export function reserveAuditSlot(
  { audit }: AuditParts,
  { settings }: ServerSnapshot,
  auditContext: AuditContext,
): void {
  if (!usesObo(settings) && !usesGraph(settings)) return;
  if (!audit.reserve()) throw new GatewayError('AUDIT_UNAVAILABLE');
  auditContext.isReserved = true;
}

type AuditResult = Pick<AuditEvent, 'outcome' | 'code'>;

const ok: AuditResult = { outcome: 'ok' };
const toolError: AuditResult = { outcome: 'failed' };
/** The repeated request with the answers is a separate event. */
const inputRequired: AuditResult = { outcome: 'asked' };

function resultOfError(error: unknown, { signal }: Inbound): AuditResult {
  // If the caller aborted, the gateway does not know whether the server ran the request.
  if (signal.aborted) return { outcome: 'uncertain' };
  if (!(error instanceof GatewayError)) return { outcome: 'failed', code: 'INTERNAL' };
  if (error.signIn) return { outcome: 'refused', code: error.signIn.code };
  const { code } = error;
  if (code === 'MCP_OUTCOME_UNCERTAIN' || code === 'MCP_TIMEOUT') return { outcome: 'uncertain', code };
  return { outcome: httpStatus(code) < 500 ? 'refused' : 'failed', code };
}

/** Whose authority a call uses. Shown in the audit log, the chat and the tool lists. */
export function authorityOf(server: ServerSnapshot): Authority {
  const scopes = scopesOf(server);
  return { kind: kindOf(server), ...(scopes && { scopes }), shared: server.scope === 'app' };
}

const kindByAuth = {
  none: 'none',
  static: 'static',
  userVars: 'user_values',
  oauth: 'user_token',
  obo: 'exchanged',
} as const satisfies Record<string, AuthorityKind>;

function kindOf(server: ServerSnapshot): AuthorityKind {
  if (server.scope === 'user') return usesGraph(server.settings) ? 'exchanged' : kindByAuth[server.auth];
  const { target, settings } = server;
  // The gateway's own environment variables for child processes are not credentials.
  const configured = settings.type === 'stdio' ? settings.env : target.type !== 'stdio' && target.headers;
  for (const _name in configured || {}) return 'static';
  return 'none';
}

const scopeCache = new WeakMap<ServerSnapshot['settings'], string[]>();

/** Cached by the immutable settings object, because every call records its scopes. */
function scopesOf({ settings }: ServerSnapshot): string[] | undefined {
  if (!('obo' in settings) || !settings.obo) return undefined;
  let cached = scopeCache.get(settings);
  if (!cached) scopeCache.set(settings, (cached = scopeList(settings.obo.scopes)));
  return cached;
}
