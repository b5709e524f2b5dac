import type { ServerCheckView } from '@behalf/contracts';
import { withAudit, type AuditDetails } from '../access/withAudit.ts';
import type { UserPrincipal } from '../principal/principal.ts';
import { createConfigEvent } from './configEvent.ts';
import { validateUpdate, type ServerChange } from './validateUpdate.ts';
import { validateNewServer } from './validateNewServer.ts';
import type { ConfigureParts, ServerProbe } from './parts.ts';
import { toUserServer, requireReachable } from './requireReachable.ts';

export interface ServerCheckInput extends Pick<ServerChange, 'config' | 'mode'> {
  /** The server that would be changed; absent: a new one. */
  readonly server?: string | undefined;
}

/**
 * Whether a server could be saved like this, by the same questions. Nothing changes; that it was asked is told all the
 * same, because a server was looked at, and because somebody who may not may be trying.
 */
export function checkServerDefinition(
  parts: ConfigureParts,
  principal: UserPrincipal,
  { server, ...change }: ServerCheckInput,
): Promise<ServerCheckView> {
  const event = createConfigEvent(principal, { action: 'server.check', door: 'rest', server });
  return withAudit(parts.audit, event, async (details) => {
    const probe =
      server === undefined
        ? (await validateNewServer(parts, principal, change.config)).probe
        : await probeChange(parts, principal, server, change, details);
    parts.audit.note({ ...event, ...details, outcome: 'ok' });
    const tools = probe?.tools;
    return { result: tools === undefined ? { inspected: false } : { inspected: true, tools }, changed: [] };
  });
}

/** Also where nothing but texts would change: who asks wants to know whether it works. */
async function probeChange(
  parts: ConfigureParts,
  principal: UserPrincipal,
  name: string,
  change: ServerChange,
  details: AuditDetails,
): Promise<ServerProbe | null> {
  const { settings, stored } = await validateUpdate(parts, principal, name, change, details);
  return requireReachable(parts, toUserServer(settings, stored));
}
