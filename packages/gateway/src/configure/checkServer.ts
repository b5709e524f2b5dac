import type { ServerCheckView } from '@behalf/contracts';
import { recorded, type Trail } from '../access/recorded.ts';
import type { UserPrincipal } from '../principal/principal.ts';
import { configChange } from './configChange.ts';
import { judgeChange, type ServerChange } from './judgeChange.ts';
import { judgeNew } from './judgeNew.ts';
import type { ConfigureParts, Looked } from './parts.ts';
import { asUserServer, requireReachable } from './requireReachable.ts';

export interface ServerCheck extends Pick<ServerChange, 'config' | 'mode'> {
  /** The server that would be changed; absent: a new one. */
  readonly server?: string | undefined;
}

/**
 * Whether a server could be saved like this, by the same questions. Nothing changes; that it was asked is told all the
 * same, because a server was looked at, and because somebody who may not may be trying.
 */
export function checkServer(
  parts: ConfigureParts,
  principal: UserPrincipal,
  { server, ...change }: ServerCheck,
): Promise<ServerCheckView> {
  const attempt = configChange(principal, { action: 'server.check', door: 'rest', server });
  return recorded(parts.audit, attempt, async (trail) => {
    const looked =
      server === undefined
        ? (await judgeNew(parts, principal, change.config)).looked
        : await lookAtChange(parts, principal, server, change, trail);
    parts.audit.note({ ...attempt, ...trail, outcome: 'ok' });
    const tools = looked?.tools;
    return { result: tools === undefined ? { inspected: false } : { inspected: true, tools }, changed: [] };
  });
}

/** Also where nothing but texts would change: who asks wants to know whether it works. */
async function lookAtChange(
  parts: ConfigureParts,
  principal: UserPrincipal,
  name: string,
  change: ServerChange,
  trail: Trail,
): Promise<Looked | null> {
  const { settings, stored } = await judgeChange(parts, principal, name, change, trail);
  return requireReachable(parts, asUserServer(settings, stored));
}
