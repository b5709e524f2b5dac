import { httpStatus } from '@behalf/contracts';
import type { Clock } from '@behalf/kernel';
import { actorOf, type Audit, type AuditEvent } from '../audit/audit.ts';
import { GatewayError } from '../errors/gatewayError.ts';
import { usesGraph, usesObo } from '../registry/scope.ts';
import type { ServerSnapshot } from '../registry/server.ts';
import type { UpstreamResponse, JsonObject } from '../upstream/upstream.ts';
import { authorityOf } from './authorityOf.ts';
import type { Inbound } from './call.ts';

export interface AuditParts {
  readonly audit: Audit;
  readonly clock: Clock;
}

/** What is asked of a server, as far as it is written down: names, never values. */
export interface Asked {
  readonly action: 'tool.call' | 'resource.read' | 'prompt.get' | `task.${'get' | 'update' | 'cancel'}`;
  readonly server?: string | undefined;
  readonly tool?: string | undefined;
  readonly args?: JsonObject | undefined;
  /** The id of the block that asks, where one does. */
  readonly subject?: string | undefined;
}

/** What is learnt on the way. */
export interface Trail {
  server?: ServerSnapshot;
  /** Why nothing was asked of the server, whatever the caller is told. */
  refused?: string;
  /** Set once there is something to present: what ended before was asked in nobody's name. */
  isPrepared?: boolean;
  /** Room for the event was kept beforehand. */
  isReserved?: boolean;
}

/** Does the work and writes down how it ended, whichever way that was. */
export async function recordAudit(
  { audit, clock }: AuditParts,
  inbound: Inbound,
  asked: Asked,
  work: (trail: Trail) => Promise<UpstreamResponse>,
): Promise<UpstreamResponse> {
  const begun = clock.now();
  const trail: Trail = {};
  let ended: Ended = ok;
  try {
    const answer = await work(trail);
    if (trail.refused !== undefined) ended = { outcome: 'refused', code: trail.refused };
    else if (answer.isInputRequired) ended = askedBack;
    else if (answer.result['isError'] === true) ended = toolFailed;
    return answer;
  } catch (error) {
    ended = endedBy(error, inbound, trail);
    throw error;
  } finally {
    const { principal, door, id } = inbound;
    const { server } = trail;
    const authority = trail.isPrepared && server ? authorityOf(server) : undefined;
    audit.note(
      {
        kind: 'call',
        action: asked.action,
        tenant: principal.tenant,
        actor: actorOf(principal),
        door,
        outcome: ended.outcome,
        code: ended.code,
        server: asked.server,
        serverId: server?.id,
        tool: asked.tool,
        subject: asked.subject,
        arguments: asked.args && Object.keys(asked.args),
        authority: authority?.kind,
        scopes: authority?.scopes,
        durationMs: clock.now() - begun,
        request: id,
      },
      trail.isReserved,
    );
  }
}

/** What may not happen unseen does not happen when nobody could write it down. */
export function requireRoom({ audit }: AuditParts, { settings }: ServerSnapshot, trail: Trail): void {
  if (!usesObo(settings) && !usesGraph(settings)) return;
  if (!audit.reserve()) throw new GatewayError('AUDIT_UNAVAILABLE');
  trail.isReserved = true;
}

type Ended = Pick<AuditEvent, 'outcome' | 'code'>;

const ok: Ended = { outcome: 'ok' };
const toolFailed: Ended = { outcome: 'failed' };
/** The caller comes again with the answers: that is an event of its own. */
const askedBack: Ended = { outcome: 'asked' };

function endedBy(error: unknown, { signal }: Inbound, { refused }: Trail): Ended {
  // Who left does not know whether it ran; neither do we.
  if (signal.aborted) return { outcome: 'uncertain' };
  if (refused !== undefined) return { outcome: 'refused', code: refused };
  if (!(error instanceof GatewayError)) return { outcome: 'failed', code: 'INTERNAL' };
  const { code } = error;
  if (code === 'MCP_OUTCOME_UNCERTAIN' || code === 'MCP_TIMEOUT') return { outcome: 'uncertain', code };
  return { outcome: httpStatus(code) < 500 ? 'refused' : 'failed', code };
}
