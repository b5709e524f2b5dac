import { actorOf } from '../audit/audit.ts';
import type { UserPrincipal } from '../principal/principal.ts';

type ConfigAction =
  | 'server.create'
  | 'server.change'
  | 'server.check'
  | 'server.discover'
  | 'server.delete'
  | 'override.put'
  | 'override.delete';

/** A change of the configuration, as it is written down. The name is learnt later of a server that is being made. */
export function createConfigEvent(
  principal: UserPrincipal,
  { action, door, server }: { action: ConfigAction; door: 'rest' | 'admin'; server?: string | undefined },
) {
  const event = {
    kind: 'config',
    action,
    door,
    tenant: principal.tenant,
    actor: actorOf(principal),
  } as const;
  return server === undefined ? event : { ...event, server };
}
